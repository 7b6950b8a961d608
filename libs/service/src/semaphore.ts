/** Releases the slot while `wait` runs, and takes one again before it returns. */
export type ReleaseWhile = <T>(wait: () => Promise<T>) => Promise<T>;

type Semaphore = {
  /** Runs the work when a slot is free, in the order of the calls. Rejects with the signal's reason while it waits. */
  run: <T>(work: (releaseWhile: ReleaseWhile) => Promise<T>, signal?: AbortSignal) => Promise<T>;
  /** Work that waits for a slot. */
  waiting: () => number;
  isFull: () => boolean;
};

/** Runs at most `slots` pieces of work at a time. */
export function createSemaphore(slots: number): Semaphore {
  let taken = 0;
  const waiting = new Set<() => void>();
  const isFull = () => taken >= slots;
  const acquire = async (signal?: AbortSignal) => {
    signal?.throwIfAborted();
    if (!isFull()) {
      taken += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      waiting.delete(resolve);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    waiting.add(resolve);
    await promise.finally(() => signal?.removeEventListener("abort", leave));
  };
  // Whoever leaves hands the slot over, so that nobody slips in between.
  const release = () => {
    const [next] = waiting;
    if (!next) {
      taken -= 1;
      return;
    }
    waiting.delete(next);
    next();
  };
  const releaseWhile: ReleaseWhile = async (wait) => {
    release();
    try {
      return await wait();
    } finally {
      await acquire();
    }
  };
  return {
    run: async (work, signal) => {
      await acquire(signal);
      try {
        return await work(releaseWhile);
      } finally {
        release();
      }
    },
    waiting: () => waiting.size,
    isFull,
  };
}
