// Notes what happened for the tasks that wait for it (docs/reference/schedules.md#events): once, however often it is seen.

import type { Trx } from "@svc/store";
import { sql } from "kysely";
import type { Tables } from "../database/schema.ts";
import type { ScheduleRow } from "./row.ts";
import { causesOf, dueOf, type Happening } from "./trigger.ts";

/** Something that happened on a server; `isLate` when it was not seen at the time. */
export type Happened = { server: string; happening: Happening; isLate?: boolean };

/** All tasks of servers, which nobody saves or deletes until the transaction ends. */
export function lockTasks(trx: Trx<Tables>, servers: readonly string[]): Promise<ScheduleRow[]> {
  return trx
    .selectFrom("server_schedules")
    .selectAll()
    .where("server_name", "=", sql<string>`any(${[...servers]}::text[])`)
    .orderBy("id")
    .forKeyShare()
    .execute();
}

export async function noteHappened(
  trx: Trx<Tables>,
  tasks: readonly ScheduleRow[],
  happened: readonly Happened[],
): Promise<void> {
  const rows = happened.flatMap(({ server, happening, isLate = false }) => {
    const { event, trigger, at, about } = happening;
    const own = tasks.filter((task) => task.server_name === server);
    const waits = own.filter((task) => task.enabled && task.trigger === trigger && task.updated_at <= at);
    const causes = JSON.stringify(causesOf(happening, own));
    return waits.map((task) => ({
      ...{ schedule_id: task.id, event, trigger, about, causes },
      ...{ happened_at: at, due_at: dueOf({ at, trigger, isLate }, task) },
    }));
  });
  if (rows.length === 0) return;
  const query = trx.insertInto("trigger_events").values(rows);
  await query.onConflict((conflict) => conflict.doNothing()).execute();
}
