// Periodic work within one process.

import { setTimeout as delay } from "node:timers/promises";
import { createWake, type Wake } from "@svc/store/wake";

type Round = (signal: AbortSignal) => Promise<unknown>;

type Pauses = {
  /** The pause before the first round (0). */
  firstMs?: number;
  /** The pause after a round; a function is asked after each. */
  everyMs: number | (() => number);
  /** Gets the error of a round that failed before the loop was to end; the next one retries. False makes it an idle one. */
  onError: (error: Error) => unknown;
};

/** The pause after an idle round, one that returned false: until a notification of `wake`, at most `everyMs`. */
export type Idle = { everyMs: Pauses["everyMs"]; wake: Wake };

/** Repeats `round` until `signal` aborts, with a pause after each. */
export async function repeat(
  round: Round,
  { firstMs, everyMs, idle, onError, signal }: Pauses & { idle?: Idle | undefined; signal: AbortSignal },
): Promise<void> {
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => {});
  const msOf = (every: Pauses["everyMs"]) => (typeof every === "number" ? every : every());
  if (idle) signal.addEventListener("abort", idle.wake.ring, { once: true });
  if (firstMs !== undefined) await pause(firstMs);
  while (!signal.aborted) {
    const isBusy = await round(signal).catch((error: Error) => !signal.aborted && onError(error));
    if (idle && isBusy === false) await idle.wake.next(msOf(idle.everyMs));
    else await pause(msOf(everyMs));
  }
}

type Loop = {
  /** Starts the next round at once. */
  ring: () => void;
  /** Aborts the round under way and waits for it. */
  close: () => Promise<void>;
};

/** Repeats `round` until it is closed, with a pause after each that a ring ends. */
export function startLoop(round: Round, pauses: Pauses): Loop {
  const { everyMs, onError } = pauses;
  const ending = new AbortController();
  const wake = createWake();
  const idle = (_result: unknown) => false;
  const running = repeat((signal) => round(signal).then(idle), {
    ...pauses,
    idle: { everyMs, wake },
    onError: (error) => idle(onError(error)),
    signal: ending.signal,
  });
  return {
    ring: wake.ring,
    close: async () => {
      ending.abort();
      await running;
    },
  };
}
