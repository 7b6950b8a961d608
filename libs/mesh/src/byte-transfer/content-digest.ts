// Content-Digest (RFC 9530): `sha-256=:<base64>:`, other algorithms are ignored. Pure.

import { Fault } from "@svc/proto";

const entry = /^\s*sha-256\s*=\s*:([A-Za-z0-9+/]{43}=):\s*(?:;.*)?$/;

/** The sha-256 of a header, in hex. Throws `digest_required` or `bad_digest`. */
export function readDigest(header: string | undefined): string {
  if (header === undefined || header.trim() === "") throw new Fault("digest_required");
  const ours = header.split(",").filter((part) => /^\s*sha-256\s*=/i.test(part));
  if (ours.length === 0) throw new Fault("digest_required");
  const value = ours.length === 1 ? entry.exec(ours[0] ?? "")?.[1] : undefined;
  if (value === undefined) throw new Fault("bad_digest");
  return Buffer.from(value, "base64").toString("hex");
}
