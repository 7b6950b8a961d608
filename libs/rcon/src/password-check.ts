import { createHash, timingSafeEqual } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

export type PasswordCheck = {
  /** Compares in constant time; a wrong password is counted for its address and answered late. */
  accept(password: Buffer, address: string): Promise<boolean>;
  isBlocked(address: string): boolean;
};

type Options = { readonly password: string; readonly maxFailures: number; readonly delayMs: number };

const windowMs = 60_000;
const maxAddresses = 1_000;

export function createPasswordCheck({ password, maxFailures, delayMs }: Options): PasswordCheck {
  const expected = digest(password);
  const failures = new Map<string, { count: number; endsAt: number }>();

  const countOf = (address: string) => {
    const entry = failures.get(address);
    return entry && entry.endsAt > Date.now() ? entry.count : 0;
  };
  const note = (address: string) => {
    const count = countOf(address) + 1;
    failures.delete(address);
    failures.set(address, { count, endsAt: Date.now() + windowMs });
    // The oldest entry goes first, so that many addresses can't fill the memory.
    const [oldest] = failures.keys();
    if (failures.size > maxAddresses && oldest !== undefined) failures.delete(oldest);
  };

  return {
    isBlocked: (address) => countOf(address) >= maxFailures,
    accept: async (given, address) => {
      if (timingSafeEqual(digest(given), expected) && countOf(address) < maxFailures) return true;
      note(address);
      await delay(delayMs, undefined, { ref: false });
      return false;
    },
  };
}

// Digests have one length, which timingSafeEqual needs and which hides the length of the password.
function digest(text: string | Buffer): Buffer {
  return createHash("sha256").update(text).digest();
}
