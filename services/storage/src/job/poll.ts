import { setTimeout as delay } from "node:timers/promises";

export type Polling = {
  everyMs: number;
  /** On the clock of `performance.now()`. */
  endAt: number;
  signal?: AbortSignal | undefined;
};

/** Calls `probe` until it returns something; undefined when it has not at `endAt`. Throws the reason of `signal`. */
export async function poll<T>(
  probe: (signal: AbortSignal) => Promise<T | undefined>,
  { everyMs, endAt, signal }: Polling,
): Promise<T | undefined> {
  const late = AbortSignal.timeout(Math.max(0, Math.ceil(endAt - performance.now())));
  const stop = signal ? AbortSignal.any([signal, late]) : late;
  while (!stop.aborted) {
    const found = await probe(stop);
    if (found !== undefined) return found;
    await delay(everyMs, undefined, { signal: stop }).catch(() => {});
  }
  signal?.throwIfAborted();
  return undefined;
}
