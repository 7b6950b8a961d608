import { createWake } from "@svc/store";
import type { Logger } from "@svc/telemetry";

type Loop = {
  /** Starts the next round at once. */
  ring: () => void;
  close: () => Promise<void>;
};

/** Repeats a round until it is closed; one that fails is logged and repeated. */
export function startLoop(
  name: string,
  {
    log,
    everyMs,
    round,
  }: {
    log: Pick<Logger, "warn">;
    everyMs: number;
    round: (signal: AbortSignal) => Promise<void>;
  },
): Loop {
  const ending = new AbortController();
  const { signal } = ending;
  const wake = createWake();
  const run = async () => {
    while (!signal.aborted) {
      await round(signal).catch((error: Error) => {
        if (!signal.aborted)
          log.warn({ work: name, error: error.message }, "background task failed; retrying");
      });
      if (!signal.aborted) await wake.next(everyMs);
    }
  };
  const running = run();
  return {
    ring: wake.ring,
    close: async () => {
      ending.abort();
      wake.ring();
      await running;
    },
  };
}
