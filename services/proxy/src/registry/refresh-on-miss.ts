// The list is polled every 15 s; what a player names may be newer than that.

/** Runs one at a time: who asks meanwhile gets the same end. */
export function shared(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Polls out of turn, but never within `everyMs` of the last time: names that players make up must not become calls. */
export function createLateLook(about: {
  refresh: () => Promise<void>;
  everyMs: number;
  now: () => number;
}): () => Promise<void> {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let last = Promise.resolve();
  return () => {
    if (about.now() - lookedAt < about.everyMs) return last;
    lookedAt = about.now();
    last = about.refresh();
    return last;
  };
}
