import { setTimeout as delay } from "node:timers/promises";
import type { Wake } from "@svc/store";

/** The pause after an idle round, one that returned false: until a notification of `wake`, at most `everyMs`. */
export type Idle = { everyMs: number; wake: Wake };

/** Repeats `work` until `signal` aborts, with a pause after each round; `onError` gets the error of a round. */
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
