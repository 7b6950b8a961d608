// Forgeries by hostile browsers, pages, devices and networks, for attestations and assertions alike.

import type { Forgery } from "./authenticator.ts";

/** Responses that no honest browser sends. */
export const forgeries: Record<string, Forgery> = {
  "the page of another site": { origin: "https://console.svc.localhost.example.org" },
  "the same host over http": { origin: "http://console.svc.localhost" },
  "another port of the host": { origin: "https://console.svc.localhost:8443" },
  "a subdomain that is not configured": { origin: "https://evil.console.svc.localhost" },
  "a page without an origin": { origin: "null" },
  "another relying party": { rpId: "console.example.org" },
  "the parent domain as relying party": { rpId: "svc.localhost" },
  "a frame in another site": { crossOrigin: true, topOrigin: "https://example.org" },
  "a frame in an unnamed site": { crossOrigin: true },
  "a challenge that was never issued": { challenge: Buffer.alloc(32, 7).toString("base64url") },
  "no challenge": { challenge: "" },
};

/** Deeply nested lists, as CBOR. */
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
