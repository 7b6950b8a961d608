/** Releases the slot while `wait` runs, and takes one again before it returns. */
export type ReleaseWhile = <T>(wait: () => Promise<T>) => Promise<T>;

type Semaphore = { run: <T>(work: (releaseWhile: ReleaseWhile) => Promise<T>) => Promise<T> };

/** Runs at most `slots` pieces of work at a time, the others in the order they came. */
export function createSemaphore(slots: number): Semaphore {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const acquire = async () => {
    if (taken >= slots) await new Promise<void>((resolve) => waiting.push(resolve));
    else taken += 1;
  };
  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else taken -= 1;
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
    run: async (work) => {
      await acquire();
      try {
        return await work(releaseWhile);
      } finally {
        release();
      }
    },
  };
}
