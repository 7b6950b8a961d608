/** How many tokens a bucket holds, and how many come back each second. */
type TokenRate = { readonly burst: number; readonly perSecond: number };
/** What is left at a moment, in milliseconds of `performance.now()`. */
export type TokenBucket = { left: number; at: number };

/** A bucket from which nothing has been taken yet. */
export const fullBucket = ({ burst }: TokenRate, now: number): TokenBucket => ({ left: burst, at: now });

/** Takes a token; false when there is none. */
export function takeToken(bucket: TokenBucket, { burst, perSecond }: TokenRate, now: number): boolean {
  bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) / 1_000) * perSecond);
  bucket.at = now;
  if (bucket.left < 1) return false;
  bucket.left -= 1;
  return true;
}
