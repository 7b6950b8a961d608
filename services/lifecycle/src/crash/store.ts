// All SQL of crash reports (docs/reference/crashes.md#keeping).

import { crashes as contracts } from "@svc/proto";
import { outboxRow } from "@svc/store";
import { sql } from "kysely";
import type { LifecycleStore, ServerCrashesTable } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";

export type CrashRow = Omit<ServerCrashesTable, "server_name" | "run" | "lines">;

/** What the database knows of a run that has ended. */
type RunFacts = {
  isRecorded: boolean;
  wasRunning: boolean;
  memoryMib: number | undefined;
  /** Ticks a second. */
  tps: number | undefined;
};
type FactsRow = { is_recorded: boolean; was_running: boolean; memory_mib: number | null; tps: number | null };
type RunSpan = { key: string; startedAt: Date; endedAt: Date };

/** What happens next: the server stays stopped, its process is left alone, or it is started again. */
export type AfterCrash = "stopped" | "left" | "restarts";

export type CrashStore = {
  factsOf: (name: string, run: RunSpan) => Promise<RunFacts>;
  /** Keeps a report, publishes its event and queues the mail about it, once for each run; drops what is too many. */
  record: (report: ServerCrashesTable, after: AfterCrash) => Promise<void>;
  /** The newest first. */
  list: (name: string, since: Date) => Promise<CrashRow[]>;
  find: (name: string, id: string, since: Date) => Promise<(CrashRow & { lines: string[] }) | undefined>;
};

/** Ends of containers are whole seconds. */
const timesSlack = sql`interval '1 second'`;
/** A sample is of use for this long: it is taken once a minute, and steps have five. */
const sampleSpan = sql`interval '10 minutes'`;

/** So many crashes in so long are a loop. */
const loop = { crashes: 3, span: sql`interval '30 minutes'` };

export function createCrashStore({ db }: LifecycleStore, mailPauseMs: number): CrashStore {
  return {
    factsOf: withDatabaseFaults(async (name, { key, startedAt, endedAt }) => {
      const { rows } = await sql<FactsRow>`
        select
          exists (select from server_crashes where server_name = ${name} and run = ${key}) as is_recorded,
          exists (select from server_phases where server_name = ${name} and phase = 'Running'
              and at between ${startedAt} and ${endedAt}::timestamptz + ${timesSlack})
            or coalesce((select phase = 'Running' from server_phases
              where server_name = ${name} and at <= ${startedAt} order by at desc limit 1), false) as was_running,
          (select memory_mib_sum / usage_count from server_history
            where server_name = ${name} and usage_count > 0
              and at <= ${endedAt} and at > ${endedAt}::timestamptz - ${sampleSpan}
            order by at desc limit 1) as memory_mib,
          (select tps_sum / tps_count from server_history
            where server_name = ${name} and tps_count > 0
              and at <= ${endedAt} and at > ${endedAt}::timestamptz - ${sampleSpan}
            order by at desc limit 1) as tps`.execute(db);
      const [row] = rows;
      return {
        isRecorded: row?.is_recorded === true,
        wasRunning: row?.was_running === true,
        memoryMib: row?.memory_mib ?? undefined,
        tps: row?.tps ?? undefined,
      };
    }),
    record: withDatabaseFaults(async (report, after) => {
      await insertReport(report, { after, pauseMs: mailPauseMs }).execute(db);
    }),
    list: withDatabaseFaults((name, since) =>
      db
        .selectFrom("server_crashes")
        .select(columns)
        .where("server_name", "=", name)
        .where("at", ">=", since)
        .orderBy("at", "desc")
        .limit(contracts.maxCrashes)
        .execute(),
    ),
    find: withDatabaseFaults((name, id, since) =>
      db
        .selectFrom("server_crashes")
        .select([...columns, "lines"])
        .where("server_name", "=", name)
        .where("id", "=", id)
        .where("at", ">=", since)
        .executeTakeFirst(),
    ),
  };
}

const columns = [
  ...(["id", "at", "cause", "detail", "exit_code", "exit_reason"] as const),
  ...(["ran_seconds", "was_running", "memory_mib", "memory_limit_mib"] as const),
  ...(["tps", "behind_ms", "watchdog"] as const),
] as const;

// One statement: killed anywhere, the report, its event and its mail are all there or none is.
function insertReport(
  report: ServerCrashesTable,
  { after, pauseMs }: { after: AfterCrash; pauseMs: number },
) {
  const { id, server_name: name, at, cause } = report;
  const { subject, body } = outboxRow(contracts.crashed, { name, id, cause, at: at.toISOString() });
  return sql`with added as (
      insert into server_crashes (id, server_name, run, at, cause, detail, exit_code, exit_reason,
        ran_seconds, was_running, memory_mib, memory_limit_mib, tps, behind_ms, watchdog, lines)
      select ${id}::uuid, name, ${report.run}, ${at}::timestamptz, ${cause}, ${report.detail}, ${report.exit_code}::int,
        ${report.exit_reason}, ${report.ran_seconds}::int, ${report.was_running}::bool, ${report.memory_mib}::int,
        ${report.memory_limit_mib}::int, ${report.tps}::real,
        ${report.behind_ms}::int, ${report.watchdog}::bool, ${report.lines}::text[]
      from servers where name = ${name} and deleted_at is null
      on conflict (server_name, run) do nothing
      returning id
    ), dropped as (
      delete from server_crashes where exists (select from added) and id in (
        select id from server_crashes where server_name = ${name}
        order by at desc offset ${contracts.maxCrashes - 1})
    ), told as (
      select s.owner_id, case when ${after} <> 'restarts' then ${after}
        when ${loop.crashes} <= 1 + (select count(*) from server_crashes c where c.server_name = s.name
          and c.at > ${at}::timestamptz - ${loop.span} and c.at <= ${at}::timestamptz) then 'looping' end as kind
      from added, servers s where s.name = ${name} and s.owner_id is not null
        and not exists (select from crash_notices n where n.server_name = s.name and n.owner_id = s.owner_id
          and n.created_at > now() - ${pauseMs}::float8 * interval '1 millisecond')
    ), mailed as (
      insert into crash_notices (id, server_name, owner_id, kind, cause, at)
      select ${id}::uuid, ${name}, owner_id, kind, ${cause}, ${at}::timestamptz from told where kind is not null
      on conflict do nothing
    )
    insert into outbox (subject, body) select ${subject}, ${body} from added`;
}
