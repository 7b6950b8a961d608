// When sessions and tokens were last used: noted beside the answer, which never waits for a write. A database that reads but
// is slow to commit would otherwise refuse everybody.

import type { Background } from "./background.ts";

export type LastUses = {
  /** Writes unless a write of this key, or too many others, are under way: then the next use is noted. */
  note: (key: string, write: () => Promise<void>) => void;
};

/** Writes that hang must leave the connections of the pool to those who read. */
const mostAtOnce = 4;

export function createLastUses(background: Background): LastUses {
  const writing = new Set<string>();
  return {
    note: (key, write) => {
      if (writing.has(key) || writing.size >= mostAtOnce) return;
      writing.add(key);
      background.run("a last use was not noted", () => write().finally(() => writing.delete(key)));
    },
  };
}
