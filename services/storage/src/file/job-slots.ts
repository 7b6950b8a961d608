import { Fault } from "@svc/proto";

/** Limits the file Jobs that one caller has in progress on this replica: each of them is a pod. */
export type JobSlots = { run: <T>(caller: string, work: () => Promise<T>) => Promise<T> };

/** `run` throws `overloaded` while a caller has `limit` Jobs in progress. */
export function createJobSlots(limit: number): JobSlots {
  const counts = new Map<string, number>();
  return {
    run: async (caller, work) => {
      const count = counts.get(caller) ?? 0;
      if (count >= limit) {
        const message = "You have too many file operations in progress; wait until one ends.";
        throw new Fault("overloaded", { message, retryAfterSeconds: 2 });
      }
      counts.set(caller, count + 1);
      try {
        return await work();
      } finally {
        const left = (counts.get(caller) ?? 1) - 1;
        if (left > 0) counts.set(caller, left);
        else counts.delete(caller);
      }
    },
  };
}
