import { fullBucket, isFull, type TokenBucket, takeTokens } from "@svc/service/token-bucket";

/** Bounds memory: buckets that are full again are dropped, then the oldest ones. */
const maxBuckets = 65_536;

export type Budget = {
  /** 0 when `key` may act now (and has), else the milliseconds it has to wait. */
  spend: (key: string) => number;
  size: () => number;
};

/** One bucket for each key: so many at once, and one more every `everyMs`. */
export function createBudget(
  { burst, everyMs }: { burst: number; everyMs: number },
  now: () => number,
): Budget {
  const rate = { burst, perSecond: 1_000 / everyMs };
  // In the order in which they were last used.
  const buckets = new Map<string, TokenBucket>();
  const drop = (at: number) => {
    for (const [key, bucket] of buckets) {
      if (!isFull(bucket, rate, at) && buckets.size <= maxBuckets) return;
      buckets.delete(key);
    }
  };
  return {
    spend: (key) => {
      const at = now();
      const bucket = buckets.get(key) ?? fullBucket(rate, at);
      const waitMs = takeTokens(bucket, rate, at);
      buckets.delete(key);
      buckets.set(key, bucket);
      drop(at);
      return waitMs;
    },
    size: () => buckets.size,
  };
}
