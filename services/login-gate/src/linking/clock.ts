import { setTimeout as delay } from "node:timers/promises";

export type Clock = {
  readonly now: () => number;
  /** Rejects once `signal` is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** Wall time: codes end at a time of day. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
};
