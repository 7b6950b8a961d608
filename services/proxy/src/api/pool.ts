/** All workers and waiting slots are taken. */
export class BusyError extends Error {
  override name = "BusyError";
}

export type Pool = {
  /** Runs the task when a worker is free. Throws `BusyError` at once when all slots are taken. */
  run: <T>(task: () => Promise<T>) => Promise<T>;
};

type PoolOptions = { workers: number; slots: number; onBusy?: () => void };

/** At most `workers` tasks at a time, at most `slots` that wait (docs/reference/proxy.md#calls). */
export function createPool({ workers, slots, onBusy }: PoolOptions): Pool {
  const waiting: (() => void)[] = [];
  let working = 0;
  const enter = async (): Promise<void> => {
    if (working < workers) {
      working += 1;
      return;
    }
    if (waiting.length >= slots) {
      onBusy?.();
      throw new BusyError("every worker is busy and every slot is taken");
    }
    // The one who leaves hands the place over, so that nobody slips in between.
    await new Promise<void>((go) => waiting.push(go));
  };
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else working -= 1;
  };
  return {
    run: async (task) => {
      await enter();
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
}
