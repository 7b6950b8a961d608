// How a run ends: its row, its event and its entry in the audit log in one statement.

import { schedules as contracts } from "@svc/proto";
import { type OutboxTable, outboxRow, type Trx } from "@svc/store";
import { sql, type UpdateQueryBuilder } from "kysely";
import { type Audit, toAuditRow } from "../database/audit.ts";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import { type Ending, endingColumns, type Plan } from "./plan.ts";
import type { ScheduleRow } from "./row.ts";

export type Db = LifecycleStore["db"] | Trx<Tables>;
export type RunEnd = Omit<Extract<Plan, { kind: "end" }>, "kind">;

/** Undefined when the run is no longer as `row` says. */
export async function finish(
  db: Db,
  row: ScheduleRow,
  { end, at }: { end: RunEnd; at: Date },
): Promise<ScheduleRow | undefined> {
  const { ending, endings } = end;
  const change = {
    ...({ run_state: "", run_resume: false, run_step_at: null, run_job: "" } as const),
    ...{ run_step: 0, run_waits: false, run_revoked: false, step_endings: JSON.stringify(endings) },
    ...endingColumns(ending),
    ...(ending.result === "ok" && { last_ok_at: row.last_run_at }),
    run_ended_at: at,
  };
  const query = inSameState(db, row).set(change).returningAll();
  return publishingIfChanged(db, query, [
    runEventOf({ ...row, action: end.action }, { ...ending, ...triggerOf(row) }, at),
    toAuditRow(auditOf(row, end)),
  ]);
}

type Finished = Ending & { trigger?: contracts.ScheduleTrigger };

/** The event of a run that has ended or was missed. */
export function runEventOf({ id, server_name: name, action }: ScheduleRow, ending: Finished, at: Date) {
  return outboxRow(contracts.runFinished, { name, id, action, ...ending, at: at.toISOString() });
}

function triggerOf({ last_trigger: last }: ScheduleRow): Pick<Finished, "trigger"> {
  return last ? { trigger: last.trigger } : {};
}

function auditOf(row: ScheduleRow, { ending, endings }: RunEnd): Audit {
  const steps = endings.length === 0 ? {} : { steps: endings.map(({ result }) => result) };
  const { last_trigger: last } = row;
  const why = last
    ? { trigger: last.trigger, happened_at: last.at, ...(last.about && { about: last.about }) }
    : {};
  const payload = { id: row.id, label: row.label, schedule_action: row.action, ...ending, ...steps, ...why };
  const actor = { actor: "scheduler", source: "scheduler" };
  return { ...actor, action: "schedule.run", server_name: row.server_name, payload };
}

type Changing = UpdateQueryBuilder<Tables & OutboxTable, "server_schedules", "server_schedules", ScheduleRow>;

/** The change and what it publishes in one statement: all or nothing, in one round trip. */
export async function publishingIfChanged(
  db: Db,
  changed: Changing,
  rows: readonly { subject: string; body: string }[],
): Promise<ScheduleRow | undefined> {
  const subjects = rows.map(({ subject }) => subject);
  const bodies = rows.map(({ body }) => body);
  return db
    .with("changed", () => changed)
    .with("published", (query) =>
      query
        .insertInto("outbox")
        .columns(["subject", "body"])
        .expression(
          sql`select subject, body from changed, unnest(${subjects}::text[], ${bodies}::text[]) as message (subject, body)`,
        ),
    )
    .selectFrom("changed")
    .selectAll()
    .executeTakeFirst();
}

export function inSameState(db: Db, row: ScheduleRow) {
  return (
    db
      .updateTable("server_schedules")
      .where("id", "=", row.id)
      .where("run_state", "=", row.run_state)
      .where("run_step_at", "=", row.run_step_at)
      // Steps may follow each other within a millisecond, and so may runs.
      .where("run_step", "=", row.run_step)
      .where("run_waits", "=", row.run_waits)
      .where(sql<boolean>`last_run_at is not distinct from ${row.last_run_at}`)
  );
}
