// One-time tokens of Jobs; only their digests are stored.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

export function newToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString("hex");
  return { token, hash: hashOf(token) };
}

export function isToken(secret: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(secret), "hex"), Buffer.from(hash, "hex"));
}
