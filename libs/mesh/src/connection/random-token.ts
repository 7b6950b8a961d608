import { randomBytes } from "node:crypto";

const tokenBytes = 12;
let pool = Buffer.alloc(0);
let used = 0;

/**
 * A random part of a subject. Only who was told the subject can publish to it, so nobody but the one who was asked can
 * answer, although every owner may publish below the inboxes of its callers, and NATS to any subject a request names.
 */
export function randomToken(): string {
  if (used + tokenBytes > pool.length) {
    pool = randomBytes(tokenBytes * 256);
    used = 0;
  }
  used += tokenBytes;
  return pool.toString("base64url", used - tokenBytes, used);
}
