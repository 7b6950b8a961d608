import { createSemaphore } from "@svc/service/semaphore";

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
  const semaphore = createSemaphore(workers);
  return {
    run: async (task) => {
      if (semaphore.isFull() && semaphore.waiting() >= slots) {
        onBusy?.();
        throw new BusyError("every worker is busy and every slot is taken");
      }
      return semaphore.run(task);
    },
  };
}
