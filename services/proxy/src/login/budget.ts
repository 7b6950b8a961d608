// Rate of logins by IPv4 address or IPv6 /64: each login is a request to a session server.

import { fullBucket, isFull, type TokenBucket, takeToken } from "@svc/minecraft";
import { addressKey } from "@svc/proto/address";
import { perSecondOf, type Rate } from "../budget/budget.ts";

/** Bounds memory: buckets that are full again are dropped, then the oldest ones. */
const maxBuckets = 65_536;

/** Spends one login of this address; returns 0, or the milliseconds until it may retry. */
type LoginBudget = (address: string) => number;

export function createLoginBudget(
  given: Rate,
  now: () => number,
): LoginBudget & { readonly size: () => number } {
  const rate = perSecondOf(given);
  // In the order of their last login.
  const buckets = new Map<string, TokenBucket>();
  const forget = (at: number) => {
    for (const [key, bucket] of buckets) {
      if (!isFull(bucket, rate, at) && buckets.size <= maxBuckets) return;
      buckets.delete(key);
    }
  };
  const spend = (address: string) => {
    const at = now();
    const key = addressKey(address);
    const bucket = buckets.get(key) ?? fullBucket(rate, at);
    const waitMs = takeToken(bucket, rate, at);
    buckets.delete(key);
    buckets.set(key, bucket);
    forget(at);
    return waitMs;
  };
  return Object.assign(spend, { size: () => buckets.size });
}
