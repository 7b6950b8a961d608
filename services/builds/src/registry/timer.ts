// Prunes from time to time. Each replica has a timer; a lock in the database lets one prune at a time run, and a prune
// right after another finds nothing to do.

type Options = {
  everyMs: number;
  prune: (signal: AbortSignal) => Promise<{ deleted_count: number; manifests: number }>;
  log: { info: (fields: object, text: string) => void; error: (fields: object, text: string) => void };
};

export function startPruning({ everyMs, prune, log }: Options): { stop: () => Promise<void> } {
  const aborting = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const run = async () => {
    try {
      const { deleted_count, manifests } = await prune(aborting.signal);
      log.info({ deleted: deleted_count, manifests }, "registry pruned");
    } catch (error) {
      if (!aborting.signal.aborted) log.error({ err: error }, "prune failed; retrying at the next turn");
    }
  };
  // Replicas that start together prune at different times.
  const timer = setInterval(
    () => {
      running = running.then(run);
    },
    everyMs * (0.9 + Math.random() * 0.2),
  );
  return {
    stop: async () => {
      clearInterval(timer);
      aborting.abort();
      await running;
    },
  };
}
