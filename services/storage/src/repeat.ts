import { setTimeout as delay } from "node:timers/promises";

/** Repeats `work` until `signal` aborts, with a pause after each round; `onError` takes what a round throws. */
export async function repeat(
  work: (signal: AbortSignal) => Promise<unknown>,
  loop: { everyMs: () => number; onError: (error: Error) => void; signal: AbortSignal },
): Promise<void> {
  const { everyMs, onError, signal } = loop;
  while (!signal.aborted) {
    await work(signal).catch(onError);
    await delay(everyMs(), undefined, { signal }).catch(() => {});
  }
}
