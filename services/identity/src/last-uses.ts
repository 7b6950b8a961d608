// When sessions and tokens were last used: noted beside the answer, which never waits for a write. A database that reads but
// is slow to commit would otherwise refuse everybody.

import type { Logger } from "@svc/telemetry";

export type LastUses = {
  /** Writes unless a write of this key, or too many others, are under way: then the next use is noted. */
  note: (key: string, write: () => Promise<void>) => void;
  /** Resolves when all writes have ended. */
  settle: () => Promise<void>;
};

/** Writes that hang must leave the connections of the pool to those who read. */
const mostAtOnce = 4;

export function createLastUses(log: Logger): LastUses {
  const writing = new Map<string, Promise<void>>();
  return {
    note: (key, write) => {
      if (writing.has(key) || writing.size >= mostAtOnce) return;
      const ended = write()
        .catch((error: Error) => log.warn({ error: error.message }, "a last use was not noted"))
        .finally(() => writing.delete(key));
      writing.set(key, ended);
    },
    settle: async () => {
      while (writing.size > 0) await Promise.all(writing.values());
    },
  };
}
