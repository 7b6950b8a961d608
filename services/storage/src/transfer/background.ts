// Work that goes on behind an answer, and loops; all of it ends with the process.

import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@svc/telemetry";

export type Background = {
  readonly signal: AbortSignal;
  run: (name: string, work: (signal: AbortSignal) => Promise<unknown>) => void;
  /** Repeats until the end; a failed round is logged and repeated. */
  every: (name: string, ms: number, work: (signal: AbortSignal) => Promise<unknown>) => void;
  close: () => Promise<void>;
};

export function createBackground(log: Pick<Logger, "warn">): Background {
  const ending = new AbortController();
  const { signal } = ending;
  const running = new Set<Promise<void>>();
  const guard = (name: string, work: Promise<unknown>) =>
    work.then(
      () => {},
      (error: Error) => {
        if (!signal.aborted) log.warn({ work: name, error: error.message }, "work in the background failed");
      },
    );
  const track = (work: Promise<void>) => {
    running.add(work);
    void work.finally(() => running.delete(work));
  };
  return {
    signal,
    run: (name, work) => track(guard(name, work(signal))),
    every: (name, ms, work) =>
      track(
        (async () => {
          while (!signal.aborted) {
            await guard(name, work(signal));
            await delay(ms, undefined, { signal }).catch(() => {});
          }
        })(),
      ),
    close: async () => {
      ending.abort();
      await Promise.all(running);
    },
  };
}
