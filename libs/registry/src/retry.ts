import { setTimeout as delay } from "node:timers/promises";
import { isRegistryError } from "./error.ts";

type Retrying = { forMs: number; signal: AbortSignal | undefined };

const firstPauseMs = 250;
const longestPauseMs = 15_000;

/** Repeats while the registry is unavailable, for `forMs` at most; a pause is at least what the registry asked for. */
export async function retried<Value>(act: () => Promise<Value>, { forMs, signal }: Retrying): Promise<Value> {
  const endAt = performance.now() + forMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await act();
    } catch (error) {
      if (!isRegistryError(error, "unavailable")) throw error;
      const waitMs = Math.max(pauseMs, Math.min(error.retryAfterMs ?? 0, longestPauseMs));
      if (performance.now() + waitMs > endAt) throw error;
      await delay(waitMs, undefined, { signal });
    }
  }
}
