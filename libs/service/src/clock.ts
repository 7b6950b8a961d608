import { setTimeout as delay } from "node:timers/promises";

/** Time as tests may set it, in milliseconds since 1970. */
export type Clock = {
  readonly now: () => number;
  /** Rejects once `signal` is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** The time of day at the start of the process, and from then on a clock that nobody sets back. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
};
