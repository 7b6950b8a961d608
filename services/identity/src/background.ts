// Work that goes on beside or after an answer, so that its response time reveals nothing and waits for no write. A stop waits
// for it.

import type { Logger } from "@svc/telemetry";

export type Background = {
  /** `failure`: what the log says when it fails. */
  run: (failure: string, work: () => Promise<void>, about?: { request_id?: string }) => void;
  /** Resolves when all work has ended. */
  settle: () => Promise<void>;
};

export function createBackground(log: Logger): Background {
  const running = new Set<Promise<void>>();
  return {
    run: (failure, work, about) => {
      const run: Promise<void> = work()
        .catch((error: unknown) => log.warn({ ...about, error: (error as Error).message }, failure))
        .finally(() => running.delete(run));
      running.add(run);
    },
    settle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
