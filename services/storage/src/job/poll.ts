import { setTimeout as delay } from "node:timers/promises";

export type Polling = {
  /** The longest pause. */
  everyMs: number;
  /** On the clock of `performance.now()`. */
  endAt: number;
  signal?: AbortSignal | undefined;
};

const firstPauseMs = 20;

/**
 * The pause after a probe: a fifth of the time waited so far, so that an early end is noticed early. Pure.
 */
function pauseMs(waitedMs: number, everyMs: number): number {
  return Math.min(everyMs, Math.max(firstPauseMs, waitedMs / 5));
}

/** Calls `probe` until it returns something; undefined at `endAt`. Throws the reason of `signal`. */
export async function poll<T>(
  probe: (signal: AbortSignal) => Promise<T | undefined>,
  { everyMs, endAt, signal }: Polling,
): Promise<T | undefined> {
  const startedAt = performance.now();
  const late = AbortSignal.timeout(Math.max(0, Math.ceil(endAt - performance.now())));
  const stop = signal ? AbortSignal.any([signal, late]) : late;
  while (!stop.aborted) {
    const found = await probe(stop);
    if (found !== undefined) return found;
    const pause = pauseMs(performance.now() - startedAt, everyMs);
    await delay(pause, undefined, { signal: stop }).catch(() => {});
  }
  signal?.throwIfAborted();
  return undefined;
}
