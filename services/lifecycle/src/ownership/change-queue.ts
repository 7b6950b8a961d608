// Changes that wait to be written, in batches and one batch at a time.

import { setTimeout as delay } from "node:timers/promises";

type ChangeQueue = {
  add: (name: string | "all") => void;
  /** True once everything that was added before the call is written; false when a write failed meanwhile. */
  written: () => Promise<boolean>;
  close: () => Promise<void>;
};

const backOffMs = { first: 200, highest: 5_000 };

/** Whatever a failed write held is written again after a back-off. "all" includes every name. */
export function createChangeQueue(options: {
  write: (changes: "all" | readonly string[]) => Promise<void>;
  onError: (error: unknown) => void;
}): ChangeQueue {
  const closing = new AbortController();
  const { signal } = closing;
  let waiting = new Set<string>();
  let isAllWaiting = false;
  let added = 0;
  let done = 0;
  let running: Promise<void> | undefined;
  const waiters = new Set<{ upTo: number; resolve: (isWritten: boolean) => void }>();

  const settle = (isDone: (upTo: number) => boolean, isWritten: boolean) => {
    for (const waiter of waiters) {
      if (!isDone(waiter.upTo)) continue;
      waiters.delete(waiter);
      waiter.resolve(isWritten);
    }
  };
  const run = async () => {
    let waitMs = backOffMs.first;
    while (!signal.aborted && (isAllWaiting || waiting.size > 0)) {
      const [names, isAll, upTo] = [waiting, isAllWaiting, added];
      waiting = new Set();
      isAllWaiting = false;
      try {
        await options.write(isAll ? "all" : [...names]);
        done = upTo;
        waitMs = backOffMs.first;
        settle((wanted) => wanted <= done, true);
      } catch (error) {
        waiting = new Set([...names, ...waiting]);
        isAllWaiting ||= isAll;
        settle(() => true, false);
        if (!signal.aborted) options.onError(error);
        await delay(waitMs, undefined, { signal }).catch(() => {});
        waitMs = Math.min(waitMs * 2, backOffMs.highest);
      }
    }
    running = undefined;
  };
  return {
    add: (name) => {
      added += 1;
      if (name === "all") isAllWaiting = true;
      else waiting.add(name);
      // Changes of one turn of the event loop are one batch.
      running ??= Promise.resolve().then(run);
    },
    written: () =>
      done >= added
        ? Promise.resolve(true)
        : new Promise((resolve) => void waiters.add({ upTo: added, resolve })),
    close: async () => {
      closing.abort();
      await running;
      settle(() => true, false);
    },
  };
}
