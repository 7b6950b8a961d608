// SQL on the tasks of a server whose row is locked, so that its owner and the number of its tasks cannot change.

import { isDeepStrictEqual } from "node:util";
import { schedules as contracts } from "@svc/proto";
import { outboxRow, type Trx } from "@svc/store";
import { type Audit, insertAudit } from "../database/audit.ts";
import type { Tables } from "../database/schema.ts";
import { rowColumns, rowOf, type ServerRow } from "../database/server-row.ts";
import { decideEnd, stepsOf } from "./chain.ts";
import { noEnding } from "./plan.ts";
import { beginPresence } from "./presence-store.ts";
import type { ScheduleRow, ScheduleSettings } from "./row.ts";
import { finish } from "./run-end.ts";

/** The columns that a caller's input determines. */
export type SavedSchedule = ScheduleSettings & { next_run_at: Date | null };

export type LockedServer = {
  owner: string | null;
  row: ServerRow;
  count: () => Promise<number>;
  find: (id: number) => Promise<ScheduleRow | undefined>;
  insert: (
    saved: SavedSchedule,
    about: { createdBy: string; at: Date; by: string | null },
  ) => Promise<ScheduleRow>;
  /** `by`: the account that saves it, unless it is the owner. */
  update: (
    row: ScheduleRow,
    saved: SavedSchedule,
    about: { at: Date; by: string | null },
  ) => Promise<ScheduleRow>;
  remove: (row: ScheduleRow) => Promise<void>;
  /** Remembers who is on the server, so that who comes next is noticed. */
  watch: (isEmpty: boolean, now: Date) => Promise<void>;
  /** Ends a run that waits between two steps, because its task is saved or deleted. */
  endWaiting: (row: ScheduleRow, at: Date) => Promise<void>;
  /** Tells whoever shows the tasks that one was added, saved or deleted. */
  announce: (id: number, at: Date) => Promise<void>;
  audit: (audit: Audit) => Promise<void>;
};

export async function lockServer(trx: Trx<Tables>, server: string): Promise<LockedServer | undefined> {
  const locked = await trx
    .selectFrom("servers")
    .select(rowColumns)
    .where("name", "=", server)
    .where("deleted_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
  if (!locked) return undefined;
  const { owner_id: owner } = locked;
  const tasks = () => trx.selectFrom("server_schedules").where("server_name", "=", server);
  return {
    owner,
    row: rowOf(locked),
    count: async () => {
      const { count } = await tasks()
        .select((select) => select.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    find: (id) => tasks().selectAll().where("id", "=", id).forUpdate().executeTakeFirst(),
    insert: (saved, { createdBy, at, by }) =>
      trx
        .insertInto("server_schedules")
        .values({
          ...columnsOf(saved),
          server_name: server,
          owner_id: owner,
          created_by: createdBy,
          created_at: at,
          updated_at: at,
          saved_by: by,
        })
        .returningAll()
        .executeTakeFirstOrThrow(),
    update: (row, saved, about) => update(trx, row, { saved, owner, ...about }),
    audit: (audit) => insertAudit(trx, audit),
    announce: async (id, at) => {
      await trx
        .insertInto("outbox")
        .values(changeOf({ id, server_name: server }, at))
        .execute();
    },
    endWaiting: async (row, at) => {
      if (row.run_state === "" || !row.run_waits) return;
      const detail = "Its task was saved or deleted while it waited.";
      const end = decideEnd(row, { result: "skipped", detail, chain_code: "run_cancelled" });
      await finish(trx, row, { end, at });
    },
    watch: (isEmpty, now) => beginPresence(trx, server, { isEmpty, now }),
    remove: async (row) => {
      await trx.deleteFrom("server_schedules").where("id", "=", row.id).execute();
    },
  };
}

async function update(
  trx: Trx<Tables>,
  row: ScheduleRow,
  { saved, owner, at, by }: { saved: SavedSchedule; owner: string | null; at: Date; by: string | null },
): Promise<ScheduleRow> {
  // What happened was for the task as it was.
  await trx
    .updateTable("trigger_events")
    .set({ outcome: "cancelled" })
    .where("schedule_id", "=", row.id)
    .where("outcome", "=", "waiting")
    .execute();
  // Results of the former owner are of no use to the new one.
  const stale = isDeepStrictEqual(stepsOf(row), stepsOf(saved)) ? {} : { step_endings: "[]" };
  const unknown = { ...noEnding, step_endings: "[]", last_ok_at: null, last_trigger: null };
  const fresh = row.owner_id === owner ? stale : unknown;
  return trx
    .updateTable("server_schedules")
    .set({
      ...columnsOf(saved),
      ...fresh,
      owner_id: owner,
      warned_for: null,
      updated_at: at,
      saved_by: by,
    })
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

function columnsOf({ next_steps, ...settings }: SavedSchedule) {
  return { ...settings, next_steps: JSON.stringify(next_steps) };
}

/** The event of a task that is no longer what it was. */
export function changeOf({ id, server_name: name }: Pick<ScheduleRow, "id" | "server_name">, at: Date) {
  return outboxRow(contracts.scheduleChanged, { name, id, at: at.toISOString() });
}
