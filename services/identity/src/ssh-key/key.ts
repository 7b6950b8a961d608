// Public SSH keys as they are pasted and as clients send them (RFC 4253, RFC 5656, RFC 8709). Pure.

import { createPublicKey, hash, type JsonWebKey, type KeyObject } from "node:crypto";
import { sshKeys } from "@svc/proto";
import { type Reader, readerOf } from "./reader.ts";

type SshKeyType = (typeof sshKeys.sshKeyTypes)[number];
/** `blob` is what the base64 of its line stands for. */
export type PublicKey = { type: SshKeyType; blob: Buffer; key: KeyObject; fingerprint: string };

const leastRsaBits = 3_072;
const mostRsaBits = 16_384;
const curves: Readonly<Record<string, { crv: string; name: string; bytes: number }>> = {
  "ecdsa-sha2-nistp256": { crv: "P-256", name: "nistp256", bytes: 32 },
  "ecdsa-sha2-nistp384": { crv: "P-384", name: "nistp384", bytes: 48 },
  "ecdsa-sha2-nistp521": { crv: "P-521", name: "nistp521", bytes: 66 },
};

/** Why a text is no key that can be used, in words for the person who pasted it. */
type Unusable = { why: string };

/** The key and the comment in a line such as `ssh-ed25519 AAAA… ada@laptop`. */
export function parseKeyLine(text: string): (PublicKey & { comment: string }) | Unusable {
  const line = text.trim();
  if (/PRIVATE KEY/.test(line))
    return { why: "this is a private key; keep it to yourself and paste the .pub file beside it" };
  if (/[\r\n]/.test(line)) return { why: "it must be one line" };
  const [type = "", base64 = "", ...comment] = line.split(/[ \t]+/);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    return { why: "it must be the type, the base64 of the key, and a comment if any" };
  const key = parseKeyBlob(Buffer.from(base64, "base64"));
  if ("why" in key) return key;
  return key.type === type
    ? { ...key, comment: comment.join(" ") }
    : { why: `its line says ${type.slice(0, 64)}, but the key is ${key.type}` };
}

/** A key in the form of the protocol. */
export function parseKeyBlob(blob: Buffer): PublicKey | Unusable {
  const reader = readerOf(blob);
  const type = reader.text();
  if (!isKeyType(type))
    return { why: `keys of the type ${printable(type)} are not accepted; use ed25519, ecdsa or rsa` };
  const jwk = jwkOf(type, reader);
  if (!jwk || !reader.isAtEnd()) return { why: "the key is damaged" };
  try {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    const bits = key.asymmetricKeyDetails?.modulusLength ?? leastRsaBits;
    if (bits < leastRsaBits)
      return { why: `RSA keys need ${leastRsaBits} bits at least, and this one has ${bits}` };
    if (bits > mostRsaBits) return { why: `RSA keys may have ${mostRsaBits} bits at most` };
    return { type, blob, key, fingerprint: fingerprintOf(blob) };
  } catch {
    return { why: "the key is damaged" };
  }
}

function isKeyType(text: string | undefined): text is SshKeyType {
  return (sshKeys.sshKeyTypes as readonly (string | undefined)[]).includes(text);
}

function jwkOf(type: SshKeyType, reader: Reader): JsonWebKey | undefined {
  if (type === "ssh-ed25519") {
    const x = reader.bytes();
    return x?.length === 32 ? { kty: "OKP", crv: "Ed25519", x: x.toString("base64url") } : undefined;
  }
  if (type === "ssh-rsa") {
    const [e, n] = [reader.bytes(), reader.bytes()];
    if (!e || !n) return undefined;
    return { kty: "RSA", e: unsigned(e).toString("base64url"), n: unsigned(n).toString("base64url") };
  }
  const curve = curves[type];
  const name = reader.text();
  const point = reader.bytes();
  if (!curve || name !== curve.name || point?.length !== 1 + 2 * curve.bytes || point[0] !== 4)
    return undefined;
  const [x, y] = [point.subarray(1, 1 + curve.bytes), point.subarray(1 + curve.bytes)];
  return { kty: "EC", crv: curve.crv, x: x.toString("base64url"), y: y.toString("base64url") };
}

/** A number of the protocol without the zero that keeps it positive. */
function unsigned(number: Buffer): Buffer {
  let start = 0;
  while (start < number.length && number[start] === 0) start += 1;
  return number.subarray(start);
}

function fingerprintOf(blob: Buffer): string {
  return `SHA256:${hash("sha256", blob, "base64").slice(0, 43)}`;
}

function printable(text = ""): string {
  return /^[\x21-\x7e]{1,64}$/.test(text) ? text : "unknown";
}
