// A manufacturer certificate as WebAuthn 8.2 requires it. Its private key is the number one.

import { createPrivateKey, sign } from "node:crypto";

const one = Buffer.alloc(32);
one.writeUInt8(1, 31);
const key = createPrivateKey({
  format: "jwk",
  key: {
    ...{ kty: "EC", crv: "P-256", d: one.toString("base64url") },
    x: "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",
    y: "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU",
  },
});

// Valid from 2000 to 2099.
const certificate = Buffer.from(
  [
    "MIIBtzCCAV6gAwIBAgIBATAKBggqhkjOPQQDAjBMMQswCQYDVQQGEwJTRTENMAsGA1UECgwEVGVzdDEiMCAGA1UECwwZQXV0aGVu",
    "dGljYXRvciBBdHRlc3RhdGlvbjEKMAgGA1UEAwwBVDAgFw0wMDAxMDEwMDAwMDBaGA8yMTAwMDEwMTAwMDAwMFowTDELMAkGA1UE",
    "BhMCU0UxDTALBgNVBAoMBFRlc3QxIjAgBgNVBAsMGUF1dGhlbnRpY2F0b3IgQXR0ZXN0YXRpb24xCjAIBgNVBAMMAVQwWTATBgcq",
    "hkjOPQIBBggqhkjOPQMBBwNCAARrF9Hy4SxCR/i85uVjpEDydwN9gS3rM6D0oTlF2JjClk/jQuL+Gn+bjufrSnwPnhYrzjNXazFe",
    "zsu2QGg3v1H1oy8wLTAMBgNVHRMBAf8EAjAAMB0GA1UdDgQWBBS0Z6OZnrXvpnHeADLwipyeXv2g4TAKBggqhkjOPQQDAgNHADBE",
    "AiAsz7D3j1wxWYAwSXVyd7Wztv7tgdvcg0m3KP8b8u6VZAIgH35tYf7z2IsgF40q3Dg3O40xZNta4qiKimHOo2kBWv8=",
  ].join(""),
  "base64",
);

/** A statement of the format `packed` with a chain of certificates. */
export function certify(data: Buffer): Record<string, unknown> {
  return { alg: -7, sig: sign("sha256", data, key), x5c: [certificate] };
}
