import type { ownership } from "@svc/proto";
import type { Face } from "../api/internal-api.ts";
import type { Pool } from "../api/pool.ts";

/** What was last heard of a server: its row, that there is none, or nothing. */
export type StatusRow = ownership.MenuRow | "unknown" | undefined;
export type StatusCache = { read: (name: string) => Promise<StatusRow> };

/** Menu rows, kept two seconds for all players together; those who ask at the same time share one call. */
export function createStatusCache(about: {
  face: Pick<Face, "readMenu">;
  pool: Pool;
  keepMs: number;
  now: () => number;
}): StatusCache {
  const kept = new Map<string, { until: number; row: Promise<StatusRow> }>();
  const ask = async (name: string): Promise<StatusRow> => {
    const answer = await about.pool.run(() => about.face.readMenu(name));
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
