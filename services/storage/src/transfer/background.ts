// Work that continues after an answer, and loops; all of it ends with the process.

import { type Idle, repeat } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";

export type Background = {
  readonly signal: AbortSignal;
  run: (name: string, work: (signal: AbortSignal) => Promise<unknown>) => void;
  /** Repeats until closed; a failed round is logged and retried. */
  every: (
    name: string,
    pause: number | { everyMs: number; idle: Idle },
    work: (signal: AbortSignal) => Promise<unknown>,
  ) => void;
  close: () => Promise<void>;
};

export function createBackground(log: Pick<Logger, "warn">): Background {
  const ending = new AbortController();
  const { signal } = ending;
  const running = new Set<Promise<void>>();
  const logFailure = (name: string) => (error: Error) => {
    if (!signal.aborted) log.warn({ work: name, error: error.message }, "background task failed");
  };
  const track = (work: Promise<void>) => {
    running.add(work);
    void work.finally(() => running.delete(work));
  };
  return {
    signal,
    run: (name, work) => track(work(signal).then(() => {}, logFailure(name))),
    every: (name, pause, work) => {
      const { everyMs, ...idle } = typeof pause === "number" ? { everyMs: pause } : pause;
      track(repeat(work, { ...idle, everyMs, onError: logFailure(name), signal }));
    },
    close: async () => {
      ending.abort();
      await Promise.all(running);
    },
  };
}
