// The text of an API token (docs/reference/api-tokens.md#secret): a prefix that scanners of leaked secrets can look for, 32
// random bytes, and a checksum, so that nobody is asked about what cannot be a token.

import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const prefix = "svc_pat_";
const shape = /^svc_pat_([A-Za-z0-9_-]{43})([0-9a-f]{8})$/;

export function mintApiToken(): string {
  const secret = randomBytes(32).toString("base64url");
  return `${prefix}${secret}${checksumOf(secret)}`;
}

/** Whether a text claims to be an API token, well-formed or not. */
export function claimsApiToken(text: string): boolean {
  return text.startsWith(prefix);
}

export function isApiToken(text: string): boolean {
  const [, secret = "", checksum] = shape.exec(text) ?? [];
  return checksum !== undefined && checksum === checksumOf(secret);
}

/** CRC-32 of the secret part, eight hex digits. */
function checksumOf(secret: string): string {
  return crc32(secret).toString(16).padStart(8, "0");
}
