type WriteBatcherOptions<T, R> = {
  /** Items of one run; more wait for the next. */
  maxItems: number;
  /** Runs at the same time. */
  concurrency: number;
  /** Items with the same key are never in one run. */
  keyOf: (item: T) => string;
  /** Resolves with results in the order of the items. */
  run: (items: readonly T[]) => Promise<readonly R[]>;
};

type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void };

/** Batches items that arrive while earlier runs are under way; a single item does not wait. */
export function createWriteBatcher<T, R>({
  maxItems,
  concurrency,
  keyOf,
  run,
}: WriteBatcherOptions<T, R>): (item: T) => Promise<R> {
  let waiting: Waiting<T, R>[] = [];
  let running = 0;
  let isScheduled = false;
  const take = (): Waiting<T, R>[] => {
    const taken = new Map<string, Waiting<T, R>>();
    const left: Waiting<T, R>[] = [];
    for (const one of waiting) {
      const key = keyOf(one.item);
      if (taken.size < maxItems && !taken.has(key)) taken.set(key, one);
      else left.push(one);
    }
    waiting = left;
    return [...taken.values()];
  };
  const runOne = async () => {
    const batch = take();
    running += 1;
    try {
      const results = await run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => void resolve(results[index] as R));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running -= 1;
      schedule();
    }
  };
  const schedule = () => {
    if (isScheduled || waiting.length === 0 || running >= concurrency) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void runOne();
      schedule();
    });
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
