// Bind codes as people read and type them (docs/reference/links.md#redeem). The code of an account migration has the same form.

import { randomBytes } from "node:crypto";
import { sha256 } from "../secret.ts";

// Without 0, 1, I and O. 32 symbols, so the low five bits of a random byte are one of them.
const symbols = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const length = 8;

/** Eight symbols, each as likely as any other. */
export function mintBindCode(): string {
  return Array.from(randomBytes(length), (byte) => symbols[byte % symbols.length]).join("");
}

/** The stored hash of a code as it was typed. */
export function hashBindCode(typed: string): string {
  return sha256(typed.trim().toUpperCase());
}
