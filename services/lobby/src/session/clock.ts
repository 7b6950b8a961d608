import { setTimeout as delay } from "node:timers/promises";

export type Clock = {
  readonly now: () => number;
  /** Rejects once `signal` is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
};
