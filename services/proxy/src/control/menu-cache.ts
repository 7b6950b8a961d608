import type { ownership } from "@svc/proto";
import type { InternalApi } from "../api/internal-api.ts";
import type { Pool } from "../api/pool.ts";

/** What was last heard of a server: its row, that there is none, or nothing. */
export type MenuEntry = ownership.MenuRow | "unknown" | undefined;
export type MenuCache = { read: (name: string) => Promise<MenuEntry> };

/** Menu rows, kept two seconds for all players together; those who ask at the same time share one call. */
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
      // A busy moment is not remembered.
      row.catch(() => kept.delete(name));
      return row;
    },
  };
}
