// What hostile browsers, pages, devices and networks make of a ceremony, in an attestation and an assertion alike.

import type { Forgery } from "./authenticator.ts";

/** What no honest browser answers. */
export const forgeries: Record<string, Forgery> = {
  "the page of another site": { origin: "https://console.svc.localhost.example.org" },
  "the same host over http": { origin: "http://console.svc.localhost" },
  "another port of the host": { origin: "https://console.svc.localhost:8443" },
  "a host below it that is not ours": { origin: "https://evil.console.svc.localhost" },
  "a page of no origin": { origin: "null" },
  "another relying party": { rpId: "console.example.org" },
  "the relying party of the domain above": { rpId: "svc.localhost" },
  "a frame in another site": { crossOrigin: true, topOrigin: "https://example.org" },
  "a frame in a site that is not named": { crossOrigin: true },
  "a challenge that was never given": { challenge: Buffer.alloc(32, 7).toString("base64url") },
  "no challenge": { challenge: "" },
};

/** Lists in lists in lists, as CBOR. */
export const deepList = Buffer.concat([Buffer.alloc(40_000, 0x81), Buffer.from([0])]);

/** A value as the base64url text of its JSON. */
export function text(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** A response with the bytes of one field changed. */
export function changed(
  response: Record<string, unknown>,
  field: string,
  change: (bytes: Buffer) => Buffer,
): Record<string, unknown> {
  const bytes = change(Buffer.from(String(response[field]), "base64url"));
  return { ...response, [field]: bytes.toString("base64url") };
}
