// All SQL on what tasks with a trigger wait for (docs/reference/schedules.md#events). Times come from the caller.

import { schedules as contracts } from "@svc/proto";
import { type Selectable, sql } from "kysely";
import type { LifecycleStore, TriggerEventsTable } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import { type Happened, lockTasks, noteHappened } from "./note-happened.ts";
import { endingColumns } from "./plan.ts";
import { beginPresence, changePresence, noteLook, readWatched, type Watched } from "./presence-store.ts";
import type { ScheduleRow } from "./row.ts";
import { type Db, publishingIfChanged, runEventOf } from "./run-end.ts";
import { claim, type FoundTask, findAll } from "./store.ts";
import { lastTriggerOf, type Waiting } from "./trigger.ts";

export type FoundEvent = { found: FoundTask; waiting: Waiting };

export type TriggerStore = {
  /** Servers with tasks that wait for players to come or go; what is known of others is forgotten. */
  watched: () => Promise<Watched[]>;
  /** The first look at a server. */
  begin: (server: string, about: { isEmpty: boolean; now: Date }) => Promise<void>;
  /** Notes that nothing has changed; writes at most once a minute. */
  looked: (servers: readonly string[], now: Date) => Promise<void>;
  /** Notes a change, with what it means for tasks; false when another replica did. */
  change: (known: Watched, about: Happened & { isEmpty: boolean; now: Date }) => Promise<boolean>;
  /** What happened lately and was not noted: crashes and starts. */
  unnoted: (now: Date) => Promise<Happened[]>;
  /** Notes what happened, for each task that waits for it, once. */
  note: (happened: readonly Happened[]) => Promise<void>;
  /** What waits, oldest first. */
  waiting: (now: Date, limit: number) => Promise<FoundEvent[]>;
  /** Begins the run of a task; undefined when it is no longer as `row` says, or another replica did. */
  claim: (row: ScheduleRow, waiting: Waiting, now: Date) => Promise<ScheduleRow | undefined>;
  /** Notes what became of it; false when another replica did. */
  drop: (row: ScheduleRow, waiting: Waiting, outcome: contracts.TriggerOutcome) => Promise<boolean>;
  /** As `drop`, and says so in the task unless a run of it is under way. */
  miss: (row: ScheduleRow, waiting: Waiting, now: Date) => Promise<boolean>;
  /** What happened lately for the tasks of a server, the newest first. */
  list: (server: string) => Promise<Selectable<TriggerEventsTable>[]>;
  /** Forgets what nobody asks for any more. */
  sweep: (now: Date) => Promise<void>;
};

/** How far back crashes and starts are looked for, which is how long an outage may last and still be told of. */
const lookBack = sql`interval '1 day'`;
/** Longer, so that nothing is noted again that was forgotten. */
const keptFor = sql`interval '8 days'`;

export function createTriggerStore({ db }: LifecycleStore): TriggerStore {
  return {
    watched: withDatabaseFaults(() => readWatched(db)),
    begin: withDatabaseFaults((server, about) => beginPresence(db, server, about)),
    looked: withDatabaseFaults((servers, now) => noteLook(db, servers, now)),
    change: withDatabaseFaults((known, about) =>
      db.transaction().execute((trx) => changePresence(trx, known, about)),
    ),
    unnoted: withDatabaseFaults((now) => unnoted(db, now)),
    note: withDatabaseFaults((happened) =>
      db.transaction().execute(async (trx) => {
        const servers = [...new Set(happened.map(({ server }) => server))];
        await noteHappened(trx, await lockTasks(trx, servers), happened);
      }),
    ),
    waiting: withDatabaseFaults((now, limit) => waiting(db, now, limit)),
    claim: withDatabaseFaults((row, event, now) => claimFor(db, row, { event, now })),
    drop: withDatabaseFaults((row, event, outcome) => decided(db, row, { event, outcome })),
    miss: withDatabaseFaults((row, event, now) => miss(db, row, { event, now })),
    list: withDatabaseFaults(async (server) => {
      const { rows } = await sql<
        Selectable<TriggerEventsTable>
      >`select e.* from server_schedules s cross join lateral (
          select * from trigger_events where schedule_id = s.id order by happened_at desc, event desc
          limit ${contracts.shownTriggerEvents}) e
        where s.server_name = ${server} order by e.happened_at desc, e.event desc`.execute(db);
      return rows;
    }),
    sweep: withDatabaseFaults(async (now) => {
      await sql`delete from trigger_events where outcome <> 'waiting'
        and happened_at < ${now}::timestamptz - ${keptFor}`.execute(db);
    }),
  };
}

// A start is the first time that a server runs since it was down; one that only did not answer for a while has not started.
async function unnoted(db: Db, now: Date): Promise<Happened[]> {
  type Row = { server: string; trigger: contracts.ScheduleTrigger; event: string; at: Date; about: string };
  const { rows } = await sql<Row>`
    with tasks as (select id, server_name, trigger, greatest(updated_at, ${now}::timestamptz - ${lookBack}) as since
      from server_schedules where enabled and trigger in ('server_crashed', 'server_started'))
    select t.server_name as server, t.trigger, c.at, c.cause as about, 'crash-' || c.id as event
    from tasks t join server_crashes c on c.server_name = t.server_name and c.at >= t.since
    where t.trigger = 'server_crashed' and not exists (select from trigger_events e
      where e.schedule_id = t.id and e.event = 'crash-' || c.id)
    union
    select t.server_name, t.trigger, r.at, '', r.event
    from tasks t join lateral (
      select p.at, p.server_name, 'start-' || (extract(epoch from p.at) * 1000)::bigint as event from server_phases p
      where p.server_name = t.server_name and p.phase = 'Running' and p.at >= t.since) r on true
    cross join lateral (select b.phase from server_phases b
      where b.server_name = r.server_name and b.at < r.at and (b.is_wake or b.phase in ('Running', 'Stopped', 'Failed'))
      order by b.at desc limit 1) before
    where t.trigger = 'server_started' and before.phase <> 'Running' and not exists (select from trigger_events e
      where e.schedule_id = t.id and e.event = r.event)`.execute(db);
  return rows.map(({ server, ...happening }) => ({ server, happening }));
}

async function waiting(db: Db, now: Date, limit: number): Promise<FoundEvent[]> {
  const events = await db
    .selectFrom("trigger_events")
    .selectAll()
    .where("outcome", "=", "waiting")
    .where("due_at", "<=", now)
    .orderBy("due_at")
    .orderBy("schedule_id")
    .limit(limit)
    .execute();
  const ids = [...new Set(events.map(({ schedule_id }) => schedule_id))];
  if (ids.length === 0) return [];
  const tasks = new Map((await findAll(db, ids)).map((found) => [found.row.id, found]));
  return events.flatMap(({ schedule_id, event, trigger, happened_at: at, due_at: due, about, causes }) => {
    const found = tasks.get(schedule_id);
    return found ? [{ found, waiting: { event, trigger, at, due, about, causes } }] : [];
  });
}

class Lost extends Error {}

async function claimFor(
  db: LifecycleStore["db"],
  row: ScheduleRow,
  { event, now }: { event: Waiting; now: Date },
): Promise<ScheduleRow | undefined> {
  const work = db.transaction().execute(async (trx) => {
    const claimed = await claim(trx, row, { now, firedFor: lastTriggerOf(event) });
    if (claimed && !(await decided(trx, row, { event, outcome: "ran" }))) throw new Lost();
    return claimed;
  });
  return work.catch((error: Error) => {
    if (error instanceof Lost) return undefined;
    throw error;
  });
}

async function decided(
  db: Db,
  { id }: Pick<ScheduleRow, "id">,
  { event: { event }, outcome }: { event: Pick<Waiting, "event">; outcome: contracts.TriggerOutcome },
): Promise<boolean> {
  const done = await db
    .updateTable("trigger_events")
    .set({ outcome })
    .where("schedule_id", "=", id)
    .where("event", "=", event)
    .where("outcome", "=", "waiting")
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

async function miss(
  db: LifecycleStore["db"],
  row: ScheduleRow,
  { event, now }: { event: Waiting; now: Date },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    // The task before what it waits for, as whoever saves it does.
    const { id } = row;
    await sql`select from server_schedules where id = ${id} for no key update`.execute(trx);
    if (!(await decided(trx, row, { event, outcome: "missed" }))) return false;
    const detail = "svc did not see it in time, or could not begin its run.";
    const ending = { result: "missed", detail, chain_code: "event_late" } as const;
    const query = trx
      .updateTable("server_schedules")
      .set({
        ...endingColumns(ending),
        step_endings: "[]",
        last_trigger: JSON.stringify(lastTriggerOf(event)),
      })
      .set({ last_run_at: event.due, run_ended_at: event.due })
      .where("id", "=", id)
      .where("run_state", "=", "")
      .where("updated_at", "=", row.updated_at)
      .returningAll();
    const trigger = event.trigger;
    await publishingIfChanged(trx, query, [runEventOf(row, { ...ending, trigger }, now)]);
    return true;
  });
}
