import { fullBucket, overdraw } from "@svc/service/token-bucket";

/** Lets bytes through at a rate, all callers together. */
export type RateLimit = {
  /** Resolves when these bytes may be sent. Rejects when the signal is aborted. */
  take: (bytes: number, signal: AbortSignal) => Promise<void>;
};

/**
 * One second of bytes passes at once: a caller waits until what was promised before it has passed. `sleep` rejects when its
 * signal is aborted.
 */
export function createRateLimit(
  bytesPerSecond: number,
  { now, sleep }: { now: () => number; sleep: (ms: number, signal: AbortSignal) => Promise<void> },
): RateLimit {
  const rate = { burst: bytesPerSecond, perSecond: bytesPerSecond };
  const bucket = fullBucket(rate, now());
  return {
    async take(bytes, signal) {
      const waitMs = overdraw(bucket, { ...rate, count: bytes }, now());
      if (waitMs > 0) await sleep(waitMs, signal);
    },
  };
}
