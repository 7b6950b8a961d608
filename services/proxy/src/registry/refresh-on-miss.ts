// The list is polled every 15 s; what a player names may be newer than that.

/** Runs one at a time: callers in the meantime share the running one. */
export function shareRuns(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Polls out of turn, but at most every `everyMs`: made-up names must not become calls. */
export function createRefreshOnMiss(about: {
  refresh: () => Promise<void>;
  everyMs: number;
  now: () => number;
}): () => Promise<void> {
  let lastAt = Number.NEGATIVE_INFINITY;
  let last = Promise.resolve();
  return () => {
    if (about.now() - lastAt < about.everyMs) return last;
    lastAt = about.now();
    last = about.refresh();
    return last;
  };
}
