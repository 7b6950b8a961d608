import type { ownership } from "@svc/proto";
import type { InternalApi } from "../api/internal-api.ts";
import type { Pool } from "../api/pool.ts";

/** The last answer about a server: its row, that there is none, or undefined for no answer. */
type MenuEntry = ownership.MenuRow | "unknown" | undefined;
export type MenuCache = { read: (name: string) => Promise<MenuEntry> };

/** Menu rows, cached two seconds for all players; concurrent readers share one call. */
export function createMenuCache(about: {
  api: Pick<InternalApi, "readMenu">;
  pool: Pool;
  keepMs: number;
  now: () => number;
}): MenuCache {
  const kept = new Map<string, { until: number; row: Promise<MenuEntry> }>();
  const ask = async (name: string): Promise<MenuEntry> => {
    const answer = await about.pool.run(() => about.api.readMenu(name));
    if (answer.ok) return answer.value;
    return answer.status === 404 ? "unknown" : undefined;
  };
  return {
    read: (name) => {
      const found = kept.get(name);
      if (found && about.now() < found.until) return found.row;
      for (const [old, { until }] of kept) if (about.now() >= until) kept.delete(old);
      const row = ask(name);
      kept.set(name, { until: about.now() + about.keepMs, row });
      // A busy answer is not cached.
      row.catch(() => kept.delete(name));
      return row;
    },
  };
}
