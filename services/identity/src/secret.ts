// Secrets are issued once and stored only as their SHA-256.

import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";

/** 32 random bytes as 43 characters of base64url: a session or a setup token. */
export function mintToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Six decimal digits, each value as likely as any other. */
export function mintCode(): string {
  return String(randomInt(1_000_000)).padStart(6, "0");
}

/** 32 random hex digits. */
export function mintId(): string {
  return randomBytes(16).toString("hex");
}

/** Lower-case hex of the SHA-256. */
export function sha256(text: string): string {
  return hash("sha256", text);
}

/** Compares two hashes in constant time. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
