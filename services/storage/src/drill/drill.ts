import type { drills } from "@svc/proto";
import type { DrillRow } from "../database/tables.ts";

export type Drill = drills.Drill;

/** Name of all objects of a drill; no server can have it, so that no world is locked. */
export function scratchName(drill: Pick<Drill, "id">): string {
  return `drill-${drill.id}`;
}

export function hasEnded({ state }: Pick<Drill, "state">): boolean {
  return state === "passed" || state === "failed";
}

/** The only mapping from a row to the view. */
export function toDrill(row: DrillRow): Drill {
  return {
    id: row.id,
    server_name: row.server_name,
    backup_id: row.backup_id,
    state: row.state,
    ...(row.message !== null && { message: row.message }),
    ...(row.code !== null && { code: row.code }),
    ...(row.version !== null && { version: row.version }),
    ...(row.boot_seconds !== null && { boot_seconds: row.boot_seconds }),
    started_at: row.started_at.toISOString(),
    ...(row.finished_at && { finished_at: row.finished_at.toISOString() }),
  };
}
