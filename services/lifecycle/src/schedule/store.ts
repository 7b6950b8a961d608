// All SQL on scheduled tasks. Times come from the caller, so that one clock governs a run.

import { schedules as contracts } from "@svc/proto";
import { type SqlBool, sql, type Updateable } from "kysely";
import { type Audit, insertAudit } from "../database/audit.ts";
import type { LastTrigger, LifecycleStore, SchedulesTable } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import { changeOf, type LockedServer, lockServer } from "./locked-server.ts";
import { type Ending, endingColumns, noEnding } from "./plan.ts";
import type { ScheduleRow } from "./row.ts";
import { type Db, finish, inSameState, publishingIfChanged, type RunEnd, runEventOf } from "./run-end.ts";

/** A task with the current owner of its server; undefined when the server is deleted. */
export type FoundTask = {
  row: ScheduleRow;
  owner: string | null | undefined;
  /** When somebody joined the server last. */
  lastPlayedAt: Date | undefined;
};

type Change = Partial<
  Pick<
    Updateable<SchedulesTable>,
    | "enabled"
    | "next_run_at"
    | "run_state"
    | "run_resume"
    | "run_step_at"
    | "run_job"
    | "last_run_at"
    | "last_result"
    | "last_detail"
    | "last_code"
    | "last_cause"
    | "warned_for"
    | "run_step"
    | "run_waits"
    | "step_endings"
  >
>;

export type ScheduleStore = {
  list: (server: string) => Promise<ScheduleRow[]>;
  find: (server: string, id: number) => Promise<FoundTask | undefined>;
  /** Runs `work` while the server's row is locked; undefined when there is no such server. */
  withServer: <R>(server: string, work: (server: LockedServer) => Promise<R>) => Promise<R | undefined>;
  /** Tasks with something to do at `now`. */
  findWork: (now: Date, limit: number) => Promise<FoundTask[]>;
  /** Claims a run that is due; undefined when the task was changed or claimed by somebody else. */
  claim: (row: ScheduleRow, now: Date, nextRunAt: Date) => Promise<ScheduleRow | undefined>;
  /** Claims a run started by hand; the next scheduled run stays. */
  claimNow: (
    row: ScheduleRow,
    now: Date,
    auditOf: (claimed: ScheduleRow) => Audit,
  ) => Promise<ScheduleRow | undefined>;
  /** Changes a task at rest that has not changed since it was read; true when this call did it. */
  changeAtRest: (row: ScheduleRow, change: Change, about?: { ending: Ending; at: Date }) => Promise<boolean>;
  /** Moves a run to its next state; undefined when another replica did. */
  move: (row: ScheduleRow, change: Change) => Promise<ScheduleRow | undefined>;
  /** Claims the step for which a run waits; undefined when another replica did, or the run may not go on. */
  beginStep: (row: ScheduleRow, now: Date) => Promise<ScheduleRow | undefined>;
  /** Ends a run and publishes its event. */
  finish: (row: ScheduleRow, end: RunEnd, at: Date) => Promise<ScheduleRow | undefined>;
};

export function createScheduleStore({ db }: LifecycleStore): ScheduleStore {
  return {
    list: withDatabaseFaults((server) =>
      db.selectFrom("server_schedules").selectAll().where("server_name", "=", server).orderBy("id").execute(),
    ),
    find: withDatabaseFaults(async (server, id) => {
      const [found] = await findAll(db, [id]);
      return found?.row.server_name === server ? found : undefined;
    }),
    withServer: (server, work) =>
      withDatabaseFaults(() =>
        db.transaction().execute(async (trx) => {
          const locked = await lockServer(trx, server);
          return locked && (await work(locked));
        }),
      )(),
    findWork: withDatabaseFaults(async (now, limit) => {
      const { rows } = await workQuery(now, limit).execute(db);
      return rows.length === 0
        ? []
        : findAll(
            db,
            rows.map(({ id }) => id),
          );
    }),
    claim: withDatabaseFaults((row, now, nextRunAt) => claim(db, row, { now, nextRunAt })),
    claimNow: withDatabaseFaults((row, now, auditOf) =>
      db.transaction().execute(async (trx) => {
        const claimed = await claim(trx, row, { now });
        if (claimed) await insertAudit(trx, auditOf(claimed));
        return claimed;
      }),
    ),
    changeAtRest: withDatabaseFaults((row, change, about) => changeAtRest(db, row, { change, about })),
    move: withDatabaseFaults((row, change) => {
      const events = change.run_state === undefined ? [] : [changeOf(row, new Date())];
      return publishingIfChanged(db, inSameState(db, row).set(change).returningAll(), events);
    }),
    beginStep: withDatabaseFaults((row, now) => beginStep(db, row, now)),
    finish: withDatabaseFaults((row, end, at) => finish(db, row, { end, at })),
  };
}

// Three queries on partial indexes that hold nothing but work: an idle tick costs the same for any number of tasks.
export function workQuery(now: Date, limit: number) {
  const warnings = contracts.scheduleWarnings.filter((minutes) => minutes > 0);
  return sql<{ id: number }>`
    (select id from server_schedules
      where run_state <> '' and (not run_waits or run_step_at <= ${now}) order by id limit ${limit})
    union all
    (select id from server_schedules where enabled and run_state = '' and next_run_at <= ${now}
      order by next_run_at limit ${limit})
    union all
    (select soon.id from unnest(${[...warnings]}::smallint[]) as warning (minutes) cross join lateral (
        select id from server_schedules
        where enabled and run_state = '' and warn_minutes > 0 and warned_for is distinct from next_run_at
          and warn_minutes = warning.minutes and next_run_at > ${now}
          and next_run_at <= ${now}::timestamptz + warning.minutes * interval '1 minute'
        order by next_run_at limit ${limit}
      ) as soon)`;
}

/** Tasks with what is known of their servers. */
export async function findAll(db: Db, ids: readonly number[]): Promise<FoundTask[]> {
  const rows = await db
    .selectFrom("server_schedules")
    .innerJoin("servers", "servers.name", "server_schedules.server_name")
    .selectAll("server_schedules")
    .select(["servers.owner_id as owner_now", "servers.deleted_at", "servers.last_active_at"])
    .where("server_schedules.id", "=", sql<number>`any(${[...ids]}::bigint[])`)
    .orderBy("server_schedules.id")
    .execute();
  return rows.map(({ owner_now, deleted_at, last_active_at, ...row }) => ({
    row,
    owner: deleted_at ? undefined : owner_now,
    lastPlayedAt: last_active_at,
  }));
}

type Claim = { now: Date; nextRunAt?: Date; firedFor?: LastTrigger };

/** Begins a run: of the clock with `nextRunAt`, of a trigger with `firedFor`, by hand without both. */
export async function claim(
  db: Db,
  row: ScheduleRow,
  { now, nextRunAt, firedFor }: Claim,
): Promise<ScheduleRow | undefined> {
  const claimed = {
    ...({ run_state: "claimed", run_resume: false, run_step_at: now, run_job: "" } as const),
    ...{ run_step: 0, run_waits: false, step_endings: "[]", run_revoked: false },
    last_trigger: firedFor ? JSON.stringify(firedFor) : null,
    ...(firedFor && { last_fired_at: now }),
  };
  const query = db
    .updateTable("server_schedules")
    .set({ ...claimed, last_run_at: now, ...noEnding })
    .where("id", "=", row.id)
    .where("run_state", "=", "")
    // Saved again or by another owner, it is not the task that was decided on.
    .where("updated_at", "=", row.updated_at)
    .where(isOfOwner);
  const due = nextRunAt
    ? query
        .set({ next_run_at: nextRunAt })
        .where("enabled", "=", true)
        .where("next_run_at", "=", row.next_run_at)
    : query;
  const wanted = firedFor
    ? due
        .where("enabled", "=", true)
        // A run that began and ended since was decided on without this one.
        .where(sql<boolean>`last_run_at is not distinct from ${row.last_run_at}`)
        .where(sql<boolean>`last_fired_at is not distinct from ${row.last_fired_at}`)
    : due;
  return publishingIfChanged(db, wanted.returningAll(), [changeOf(row, now)]);
}

async function changeAtRest(
  db: Db,
  row: ScheduleRow,
  { change, about }: { change: Change; about: { ending: Ending; at: Date } | undefined },
): Promise<boolean> {
  // Those of the run before are not those of this one.
  const result = about && { ...endingColumns(about.ending), step_endings: "[]" };
  const query = db
    .updateTable("server_schedules")
    .set({ ...change, ...result })
    .where("id", "=", row.id)
    .where("run_state", "=", "")
    .where("enabled", "=", true)
    .where("updated_at", "=", row.updated_at)
    .where("next_run_at", "=", row.next_run_at)
    .where(sql<boolean>`warned_for is not distinct from ${row.warned_for}`);
  if (about) {
    const event = runEventOf(row, about.ending, about.at);
    return (await publishingIfChanged(db, query.returningAll(), [event])) !== undefined;
  }
  return (await query.executeTakeFirst()).numUpdatedRows > 0n;
}

function beginStep(db: Db, row: ScheduleRow, now: Date): Promise<ScheduleRow | undefined> {
  const query = inSameState(db, row)
    .set({ run_waits: false, run_step_at: now })
    .where("run_revoked", "=", false)
    .where(isOfOwner)
    .returningAll();
  return publishingIfChanged(db, query, [changeOf(row, now)]);
}

// Nothing begins for somebody who no longer owns the server.
const isOfOwner = sql<SqlBool>`exists (
  select 1 from servers where servers.name = server_schedules.server_name and servers.deleted_at is null
    and servers.owner_id is not distinct from server_schedules.owner_id)`;
