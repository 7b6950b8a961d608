// Rate of logins by IPv4 address or IPv6 /64: each login is a request to a session server.

import { addressKey } from "@svc/proto/address";
import { type Bucket, type Rate, take } from "../budget/bucket.ts";

/** Bounds memory: buckets that are full again are dropped, then the oldest ones. */
const maxBuckets = 65_536;

/** Spends one login of this address; returns 0, or the milliseconds until it may retry. */
type LoginBudget = (address: string) => number;

export function createLoginBudget(
  rate: Rate,
  now: () => number,
): LoginBudget & { readonly size: () => number } {
  // In the order of their last login.
  const buckets = new Map<string, Bucket>();
  const forget = (at: number) => {
    for (const [key, bucket] of buckets) {
      const isFull = bucket.at + rate.burst * rate.everyMs <= at;
      if (!isFull && buckets.size <= maxBuckets) return;
      buckets.delete(key);
    }
  };
  const spend = (address: string) => {
    const at = now();
    const key = addressKey(address);
    const { bucket, waitMs } = take(buckets.get(key), at, rate);
    buckets.delete(key);
    buckets.set(key, bucket);
    forget(at);
    return waitMs;
  };
  return Object.assign(spend, { size: () => buckets.size });
}
