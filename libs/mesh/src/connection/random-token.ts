import { randomBytes } from "node:crypto";

const tokenBytes = 12;
let pool = Buffer.alloc(0);
let used = 0;

/**
 * Part of a subject that only those can publish to who were told of it: nobody but the one who was asked can answer,
 * although every owner may publish below the inbox of its callers, and NATS to any subject that a request names.
 */
export function randomToken(): string {
  if (used + tokenBytes > pool.length) {
    pool = randomBytes(tokenBytes * 256);
    used = 0;
  }
  used += tokenBytes;
  return pool.toString("base64url", used - tokenBytes, used);
}
