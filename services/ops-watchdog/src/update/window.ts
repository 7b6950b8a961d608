import { auditActor, type Handler } from "@svc/mesh";
import type { updates } from "@svc/proto";
import { auditRow } from "@svc/store";
import type { WatchdogDb } from "../database.ts";

/** Why a window is refused; undefined when it is valid. */
function problemOfWindow({ start, end }: updates.UpdateWindow): string | undefined {
  if ((start === null) !== (end === null)) return "start and end: give both, or null for both";
  if (start === null || end === null) return undefined;
  return Date.parse(end) > Date.parse(start) ? undefined : "end: must be after start";
}

/** ops-watchdog.update.read-window */
export function createReadWindow(db: WatchdogDb): Handler<typeof updates.readWindow> {
  return () => readWindow(db);
}

/** ops-watchdog.update.write-window */
export function createWriteWindow(db: WatchdogDb): Handler<typeof updates.writeWindow> {
  return async (context, window) => {
    const problem = problemOfWindow(window);
    if (problem !== undefined) throw context.fault("bad_request", { message: problem });
    const [start, end] = [utcOf(window.start), utcOf(window.end)];
    const ends = { starts_at: dateOf(start), ends_at: dateOf(end) };
    await db.transaction().execute(async (trx) => {
      await trx
        .insertInto("update_window")
        .values(ends)
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ ...ends, updated_at: new Date() }))
        .execute();
      const entry = { ...auditActor(context), action: "update.window", payload: { start, end } };
      await trx.insertInto("outbox").values(auditRow("ops-watchdog", entry)).execute();
    });
    return { start, end };
  };
}

export async function readWindow(db: WatchdogDb): Promise<updates.UpdateWindow> {
  const row = await db.selectFrom("update_window").selectAll().executeTakeFirst();
  return { start: row?.starts_at?.toISOString() ?? null, end: row?.ends_at?.toISOString() ?? null };
}

function dateOf(at: string | null): Date | null {
  return at === null ? null : new Date(at);
}

function utcOf(at: string | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
