import { setTimeout as delay } from "node:timers/promises";
import type { Wake } from "@svc/store";

/** What follows a round that returned false, for "nothing is under way": the next one when `wake` rings, or after `everyMs`. */
export type Idle = { everyMs: number; wake: Wake };

/** Repeats `work` until `signal` aborts, with a pause after each round; `onError` takes what a round throws. */
export async function repeat(
  work: (signal: AbortSignal) => Promise<unknown>,
  loop: { everyMs: () => number; idle?: Idle; onError: (error: Error) => void; signal: AbortSignal },
): Promise<void> {
  const { everyMs, idle, onError, signal } = loop;
  if (idle) signal.addEventListener("abort", idle.wake.ring, { once: true });
  while (!signal.aborted) {
    const isBusy = await work(signal).catch(onError);
    if (idle && isBusy === false) await idle.wake.next(idle.everyMs);
    else await delay(everyMs(), undefined, { signal }).catch(() => {});
  }
}
