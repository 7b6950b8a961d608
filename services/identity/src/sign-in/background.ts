// Work that a public endpoint does after its answer, so that the response time reveals nothing. A stop waits for it.

import type { Logger } from "@svc/telemetry";

export type Background = {
  run: (requestId: string, work: () => Promise<void>) => void;
  /** Resolves when all work has ended. */
  settle: () => Promise<void>;
};

export function createBackground(log: Logger): Background {
  const running = new Set<Promise<void>>();
  return {
    run: (requestId, work) => {
      const run: Promise<void> = work()
        .catch((error: unknown) =>
          log.warn({ request_id: requestId, error: (error as Error).message }, "mailing a code failed"),
        )
        .finally(() => running.delete(run));
      running.add(run);
    },
    settle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
