/** How many tokens a bucket holds, and how many come back each second. */
type TokenRate = { readonly burst: number; readonly perSecond: number };
/** What is left at a moment in milliseconds, of any clock that is the same each time. */
export type TokenBucket = { left: number; at: number };

/** A bucket from which nothing has been taken yet. */
export const fullBucket = ({ burst }: TokenRate, now: number): TokenBucket => ({ left: burst, at: now });

/** Takes a token but the last `reserved`. Returns 0, or the milliseconds until there is one. */
export function takeToken(
  bucket: TokenBucket,
  { burst, perSecond, reserved = 0 }: TokenRate & { readonly reserved?: number },
  now: number,
): number {
  // A clock that is set back gives nothing.
  bucket.left = Math.min(burst, bucket.left + (Math.max(0, now - bucket.at) / 1_000) * perSecond);
  bucket.at = now;
  const missing = 1 + reserved - bucket.left;
  // Tokens come back in fractions: five times a fifth must be one.
  if (missing > 1e-9) return Math.ceil((missing / perSecond) * 1_000);
  bucket.left -= 1;
  return 0;
}

/** Whether a bucket is as if nothing had ever been taken. */
export function isFull({ left, at }: TokenBucket, { burst, perSecond }: TokenRate, now: number): boolean {
  return left + ((now - at) / 1_000) * perSecond >= burst;
}
