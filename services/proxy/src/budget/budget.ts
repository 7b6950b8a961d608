import { fullBucket, isFull, type TokenBucket, takeToken } from "@svc/minecraft";

/** So many at once, and one more every `everyMs`. */
export type Rate = { burst: number; everyMs: number };
export const perSecondOf = ({ burst, everyMs }: Rate) => ({ burst, perSecond: 1_000 / everyMs });

export type Budget = {
  /** 0 when `key` may act now (and has), else the milliseconds it has to wait. */
  spend: (key: string) => number;
  forget: (key: string) => void;
};

/** One bucket per player; a player who reconnects keeps the old one until it is full again. */
export function createBudget(given: Rate, now: () => number): Budget {
  const rate = perSecondOf(given);
  const buckets = new Map<string, TokenBucket>();
  const left = new Set<string>();
  const sweep = () => {
    for (const key of left) {
      const bucket = buckets.get(key);
      if (bucket && !isFull(bucket, rate, now())) continue;
      left.delete(key);
      buckets.delete(key);
    }
  };
  return {
    spend: (key) => {
      left.delete(key);
      const bucket = buckets.get(key) ?? fullBucket(rate, now());
      buckets.set(key, bucket);
      return takeToken(bucket, rate, now());
    },
    forget: (key) => {
      left.add(key);
      sweep();
    },
  };
}
