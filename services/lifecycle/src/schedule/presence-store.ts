// All SQL on who is on the servers whose tasks wait for that (docs/reference/schedules.md#triggers).

import type { schedules as contracts } from "@svc/proto";
import type { Trx } from "@svc/store";
import { sql } from "kysely";
import type { Tables } from "../database/schema.ts";
import { type Happened, lockTasks, noteHappened } from "./note-happened.ts";
import type { Db } from "./run-end.ts";
import type { Presence } from "./trigger.ts";

export type Watched = { server: string; presence: Presence | undefined };

/** Triggers that follow from who is on a server. */
const ofPresence: readonly contracts.ScheduleTrigger[] = ["first_player_joined", "server_empty"];

const hasWatcher = sql<boolean>`exists (select from server_schedules s
  where s.server_name = p.server_name and s.enabled and s.trigger = any(${[...ofPresence]}::text[]))`;

/** Servers with tasks that wait for players to come or go; what is known of others is forgotten. */
export async function readWatched(db: Db): Promise<Watched[]> {
  await sql`delete from server_presence p where not ${hasWatcher}`.execute(db);
  type Row = { server_name: string; is_empty: boolean | null; changed_at: Date; looked_at: Date };
  const { rows } = await sql<Row>`select s.server_name, p.is_empty, p.changed_at, p.looked_at
    from (select distinct server_name from server_schedules
      where enabled and trigger <> '' and trigger = any(${[...ofPresence]}::text[])) s
    left join server_presence p using (server_name)`.execute(db);
  return rows.map(({ server_name: server, is_empty, changed_at, looked_at }) => ({
    server,
    presence:
      is_empty === null ? undefined : { isEmpty: is_empty, changedAt: changed_at, lookedAt: looked_at },
  }));
}

/** The first look at a server; one that is known stays as it is. */
export async function beginPresence(
  db: Db,
  server: string,
  { isEmpty, now }: { isEmpty: boolean; now: Date },
): Promise<void> {
  await db
    .insertInto("server_presence")
    .values({ server_name: server, is_empty: isEmpty, changed_at: now, looked_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Notes that nothing has changed; writes at most once a minute. */
export async function noteLook(db: Db, servers: readonly string[], now: Date): Promise<void> {
  await sql`update server_presence set looked_at = ${now} where server_name = any(${[...servers]}::text[])
    and looked_at <= ${now}::timestamptz - interval '1 minute'`.execute(db);
}

/**
 * Notes a change, what it means for tasks, and the end of what waits for the contrary, in the transaction of the caller. False when
 * another replica did.
 */
export async function changePresence(
  trx: Trx<Tables>,
  { server, presence }: Watched,
  { isEmpty, now, ...happened }: Happened & { isEmpty: boolean; now: Date },
): Promise<boolean> {
  if (!presence) return false;
  const tasks = await lockTasks(trx, [server]);
  const changed = await trx
    .updateTable("server_presence")
    .set({ is_empty: isEmpty, changed_at: now, looked_at: now })
    .where("server_name", "=", server)
    .where("is_empty", "=", presence.isEmpty)
    .where("changed_at", "=", presence.changedAt)
    .executeTakeFirst();
  if (changed.numUpdatedRows === 0n) return false;
  if (!isEmpty) await cancelEmpty(trx, server);
  await noteHappened(trx, tasks, [happened]);
  return true;
}

async function cancelEmpty(trx: Trx<Tables>, server: string): Promise<void> {
  await sql`update trigger_events e set outcome = 'cancelled' from server_schedules s
    where s.id = e.schedule_id and s.server_name = ${server}
      and e.trigger = 'server_empty' and e.outcome = 'waiting'`.execute(trx);
}
