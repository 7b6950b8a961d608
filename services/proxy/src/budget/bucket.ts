/** What somebody may still do: `tokens` at the moment `at`; one comes back every `everyMs`, up to `burst`. */
export type Bucket = { tokens: number; at: number };
export type Rate = { burst: number; everyMs: number };

/** Takes one token. Returns the new bucket, and 0 or the milliseconds until the next token. */
export function take(
  bucket: Bucket | undefined,
  now: number,
  rate: Rate,
): { bucket: Bucket; waitMs: number } {
  const since = bucket ? Math.max(0, now - bucket.at) : 0;
  const tokens = bucket ? Math.min(rate.burst, bucket.tokens + since / rate.everyMs) : rate.burst;
  // Tokens come back in fractions: five times a fifth must be one.
  if (tokens >= 1 - 1e-9) return { bucket: { tokens: tokens - 1, at: now }, waitMs: 0 };
  return { bucket: { tokens, at: now }, waitMs: Math.ceil((1 - tokens) * rate.everyMs) };
}

export type Budget = {
  /** 0 when `key` may act now (and has), else the milliseconds it has to wait. */
  spend: (key: string) => number;
  forget: (key: string) => void;
};

/** One bucket per player; a player who reconnects keeps the old one until it is full again. */
export function createBudget(rate: Rate, now: () => number): Budget {
  const buckets = new Map<string, Bucket>();
  const left = new Set<string>();
  const sweep = () => {
    for (const key of left) {
      const bucket = buckets.get(key);
      const isFull = !bucket || bucket.tokens + (now() - bucket.at) / rate.everyMs >= rate.burst;
      if (!isFull) continue;
      left.delete(key);
      buckets.delete(key);
    }
  };
  return {
    spend: (key) => {
      left.delete(key);
      const { bucket, waitMs } = take(buckets.get(key), now(), rate);
      buckets.set(key, bucket);
      return waitMs;
    },
    forget: (key) => {
      left.add(key);
      sweep();
    },
  };
}
