// The token bucket of everything that is limited within one process; budgets that all replicas share are rows of PostgreSQL.

/** How many tokens a bucket holds, and how many come back each second. */
export type TokenRate = { readonly burst: number; readonly perSecond: number };
/** What is left at a moment in milliseconds, of any clock that is the same each time; in debt below 0. */
export type TokenBucket = { left: number; at: number };

/** A bucket from which nothing has been taken yet. */
export const fullBucket = ({ burst }: TokenRate, now: number): TokenBucket => ({ left: burst, at: now });

/** Adds what has come back since it was last used. A clock that is set back gives nothing. */
export function refill(bucket: TokenBucket, { burst, perSecond }: TokenRate, now: number): void {
  bucket.left = Math.min(burst, bucket.left + (Math.max(0, now - bucket.at) / 1_000) * perSecond);
  bucket.at = Math.max(bucket.at, now);
}

/** Takes `count` tokens, all or none, leaving at least `reserved`. Returns 0, or the milliseconds until enough are available. */
export function takeTokens(
  bucket: TokenBucket,
  { count = 1, reserved = 0, ...rate }: TokenRate & { readonly count?: number; readonly reserved?: number },
  now: number,
): number {
  refill(bucket, rate, now);
  const missing = count + reserved - bucket.left;
  // Tokens come back in fractions: five times a fifth must be one.
  if (missing > 1e-9) return Math.ceil((missing / rate.perSecond) * 1_000);
  bucket.left -= count;
  return 0;
}

/** Takes `count` tokens also when there are fewer. Returns the milliseconds until the bucket is no longer in debt. */
export function overdraw(
  bucket: TokenBucket,
  rate: TokenRate & { readonly count: number },
  now: number,
): number {
  refill(bucket, rate, now);
  bucket.left -= rate.count;
  return bucket.left >= 0 ? 0 : Math.ceil((-bucket.left / rate.perSecond) * 1_000);
}

/** Whether a bucket is as if nothing had ever been taken. */
export function isFull({ left, at }: TokenBucket, { burst, perSecond }: TokenRate, now: number): boolean {
  return left + ((now - at) / 1_000) * perSecond >= burst;
}
