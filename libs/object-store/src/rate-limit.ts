/** Lets bytes through at a rate, all callers together. */
export type RateLimit = {
  /** Resolves when these bytes may be sent. Rejects when the signal is aborted. */
  take: (bytes: number, signal: AbortSignal) => Promise<void>;
};

/**
 * A token bucket that holds one second of bytes, kept as the time at which it would be full again: a caller waits until
 * what was promised before it has passed. `sleep` rejects when its signal is aborted.
 */
export function createRateLimit(
  bytesPerSecond: number,
  { now, sleep }: { now: () => number; sleep: (ms: number, signal: AbortSignal) => Promise<void> },
): RateLimit {
  const burstMs = 1_000;
  let fullAt = now();
  return {
    async take(bytes, signal) {
      const from = Math.max(fullAt, now());
      fullAt = from + (bytes / bytesPerSecond) * 1_000;
      const waitMs = fullAt - burstMs - now();
      if (waitMs > 0) await sleep(waitMs, signal);
    },
  };
}
