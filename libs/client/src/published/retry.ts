// When a failed call is retried, and until when (docs/reference/client.md#retries).

import { ApiError } from "../error.ts";

export type Bounds = {
  /** Ends the call, its waits included. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for everything: tries and the waits between them. */
  timeoutMs: number;
};

const firstWaitMs = 500;
const longestWaitMs = 15_000;

/**
 * Milliseconds to wait before a call is repeated; undefined for what a repetition does not mend. `failures` counts the
 * tries before this one.
 */
export function waitBefore(error: unknown, failures: number): number | undefined {
  const growing = Math.min(firstWaitMs * 2 ** failures, longestWaitMs);
  if (error instanceof ApiError) {
    if (error.status !== 429 && error.status !== 503) return undefined;
    return error.retryAfterSeconds === undefined ? growing : error.retryAfterSeconds * 1_000;
  }
  // What `fetch` throws when there is no connection, or it broke.
  return error instanceof TypeError ? growing : undefined;
}

/**
 * Makes a call, again while it is refused for now and there is time. Throws the last refusal when the next try would come too
 * late, and the signal's reason when it ends the call.
 */
export async function withRetries<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  { signal: given, timeoutMs }: Bounds,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  const signal = bounded({ signal: given, timeoutMs });
  for (let failures = 0; ; failures++) {
    try {
      return await attempt(signal);
    } catch (error) {
      const wait = waitBefore(error, failures);
      if (wait === undefined || signal.aborted || Date.now() + wait >= end) throw error;
      await pause(wait, signal);
    }
  }
}

/** A signal that ends with the given one, and with the time. */
export function bounded({ signal, timeoutMs }: Bounds): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

/** Waits; throws the signal's reason when it ends the wait. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
