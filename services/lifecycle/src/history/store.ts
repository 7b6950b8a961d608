// All SQL of the history (docs/reference/history.md#keeping). Steps hold sums, so that samples and merges only add.

import type { Phase } from "@svc/proto";
import { sql } from "kysely";
import type { LifecycleStore, PlatformHistoryTable, ServerHistoryTable } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import type { PlatformSample, Sample } from "./sample.ts";
import type { SweepPlan } from "./step.ts";
import { finestMinutes, stepStart } from "./step.ts";

export type ServerStep = Omit<ServerHistoryTable, "server_name" | "step_minutes">;
export type PlatformStep = Omit<PlatformHistoryTable, "step_minutes">;
type PhaseRow = { at: Date; phase: Phase; startSeconds: number | undefined };
/** Successful starts and wakes of all servers, by step. */
export type StartStep = { at: Date; wakes: number; p50: number | null; p95: number | null };

export type HistoryStore = {
  /** Adds samples to the steps of this time; of a server that is gone nothing is kept. */
  record: (at: number, samples: readonly Sample[]) => Promise<void>;
  recordPlatform: (at: number, sample: PlatformSample) => Promise<void>;
  /** Merges and deletes what is old, and what is left of servers that are gone. */
  sweep: (plan: SweepPlan) => Promise<void>;
  readServer: (name: string, from: Date) => Promise<ServerStep[]>;
  /** In order, the newest `limit`; the first one may be from before, so that the phase at `from` is known. */
  readPhases: (about: { name: string; from: Date; limit: number }) => Promise<PhaseRow[]>;
  readPlatform: (from: Date) => Promise<PlatformStep[]>;
  readStarts: (from: Date, stepMinutes: number) => Promise<StartStep[]>;
};

export function createHistoryStore({ db }: LifecycleStore): HistoryStore {
  return {
    record: withDatabaseFaults(async (at, samples) => {
      if (samples.length > 0) await insertSamples(at, samples).execute(db);
    }),
    recordPlatform: withDatabaseFaults(async (at, { awake, players }) => {
      await sql`insert into platform_history
        (at, step_minutes, samples, awake_sum, players_sum, players_max)
        values (${startOf(at)}, ${finestMinutes}, 1, ${awake}, ${players}, ${players})
        on conflict (at) do update set ${addedPlatform}`.execute(db);
    }),
    sweep: withDatabaseFaults(async ({ merges, dropBefore }) => {
      for (const merge of merges) {
        await mergeServers(merge).execute(db);
        await mergePlatform(merge).execute(db);
      }
      await dropOld(dropBefore).execute(db);
    }),
    readServer: withDatabaseFaults((name, from) =>
      db
        .selectFrom("server_history")
        .select(stepColumns)
        .where("server_name", "=", name)
        .where("at", ">=", from)
        .execute(),
    ),
    readPhases: withDatabaseFaults(async ({ name, from, limit }) => {
      const before = db
        .selectFrom("server_phases")
        .select(({ fn }) => fn.max("at").as("at"))
        .where("server_name", "=", name)
        .where("at", "<=", from);
      const rows = await db
        .selectFrom("server_phases")
        .select(["at", "phase", "start_seconds"])
        .where("server_name", "=", name)
        .where("at", ">=", ({ fn }) => fn.coalesce(before, sql<Date>`${from}::timestamptz`))
        .orderBy("at", "desc")
        .limit(limit)
        .execute();
      return rows.reverse().map(({ at, phase, start_seconds }) => ({
        ...{ at, phase: phase as Phase },
        startSeconds: start_seconds ?? undefined,
      }));
    }),
    readPlatform: withDatabaseFaults((from) =>
      db
        .selectFrom("platform_history")
        .select(["at", "samples", "awake_sum", "players_sum", "players_max"])
        .where("at", ">=", from)
        .execute(),
    ),
    readStarts: withDatabaseFaults(async (from, stepMinutes) => {
      const { rows } = await sql<StartStep>`select ${binOf(stepMinutes)} as at,
          (count(*) filter (where is_wake))::int as wakes,
          percentile_disc(0.5) within group (order by start_seconds) as p50,
          percentile_disc(0.95) within group (order by start_seconds) as p95
        from server_phases
        where at >= ${from} and (is_wake or start_seconds is not null) group by 1`.execute(db);
      return rows;
    }),
  };
}

const stepColumns = [
  ...(["at", "players_sum", "players_max", "players_count", "memory_mib_sum"] as const),
  ...(["cpu_milli_sum", "usage_count", "tps_sum", "tps_count"] as const),
] as const;

const startOf = (at: number) => new Date(stepStart(at, finestMinutes));
// The same steps as `stepStart`: both count from 1970 in UTC.
const binOf = (minutes: number) =>
  sql`date_bin(make_interval(mins => ${minutes}::int), at, timestamptz 'epoch')`;

const serverColumns = sql`(server_name, at, step_minutes, players_count, players_sum, players_max,
  memory_mib_sum, cpu_milli_sum, usage_count, tps_sum, tps_count)`;

const addedServer = sql`
  players_count = server_history.players_count + excluded.players_count,
  players_sum = server_history.players_sum + excluded.players_sum,
  players_max = greatest(server_history.players_max, excluded.players_max),
  memory_mib_sum = server_history.memory_mib_sum + excluded.memory_mib_sum,
  cpu_milli_sum = server_history.cpu_milli_sum + excluded.cpu_milli_sum,
  usage_count = server_history.usage_count + excluded.usage_count,
  tps_sum = server_history.tps_sum + excluded.tps_sum,
  tps_count = server_history.tps_count + excluded.tps_count`;

const addedPlatform = sql`
  samples = platform_history.samples + excluded.samples,
  awake_sum = platform_history.awake_sum + excluded.awake_sum,
  players_sum = platform_history.players_sum + excluded.players_sum,
  players_max = greatest(platform_history.players_max, excluded.players_max)`;

function insertSamples(at: number, samples: readonly Sample[]) {
  const column = <T>(pick: (sample: Sample) => T | undefined) => samples.map((one) => pick(one) ?? null);
  return sql`with sampled as (
      select * from unnest(
        ${column(({ name }) => name)}::text[], ${column(({ players }) => players)}::int[],
        ${column(({ usage }) => usage?.memoryMib)}::int[], ${column(({ usage }) => usage?.cpuMilli)}::int[],
        ${column(({ tps }) => tps)}::real[]
      ) as t (name, players, memory_mib, cpu_milli, tps)
    )
    insert into server_history ${serverColumns}
    select t.name, ${startOf(at)}::timestamptz, ${finestMinutes}::smallint,
      num_nonnulls(t.players), coalesce(t.players, 0), coalesce(t.players, 0),
      coalesce(t.memory_mib, 0), coalesce(t.cpu_milli, 0), num_nonnulls(t.memory_mib),
      coalesce(t.tps, 0), num_nonnulls(t.tps)
    from sampled t join servers s on s.name = t.name and s.deleted_at is null
    on conflict (server_name, at) do update set ${addedServer}`;
}

type Merge = SweepPlan["merges"][number];

// One statement each: killed anywhere, a step is there once, in the old form or in the new one.
function mergeServers({ fromMinutes, toMinutes, before }: Merge) {
  return sql`with old as (
      delete from server_history where step_minutes = ${fromMinutes} and at < ${before} returning *
    )
    insert into server_history ${serverColumns}
    select server_name, ${binOf(toMinutes)}, ${toMinutes}::smallint,
      sum(players_count), sum(players_sum), max(players_max), sum(memory_mib_sum), sum(cpu_milli_sum),
      sum(usage_count), sum(tps_sum), sum(tps_count)
    from old group by 1, 2
    on conflict (server_name, at) do update set ${addedServer}`;
}

function mergePlatform({ fromMinutes, toMinutes, before }: Merge) {
  return sql`with old as (
      delete from platform_history where step_minutes = ${fromMinutes} and at < ${before} returning *
    )
    insert into platform_history (at, step_minutes, samples, awake_sum, players_sum, players_max)
    select ${binOf(toMinutes)}, ${toMinutes}::smallint,
      sum(samples), sum(awake_sum), sum(players_sum), max(players_max)
    from old group by 1
    on conflict (at) do update set ${addedPlatform}`;
}

// The last change before the limit stays: it says which phase a server was in then.
function dropOld(before: Date) {
  return sql`with gone as (select name from servers where deleted_at is not null),
    a as (delete from server_history
      where at < ${before} or server_name in (select name from gone)),
    b as (delete from platform_history where at < ${before}),
    d as (delete from server_crashes
      where at < ${before} or server_name in (select name from gone)),
    c as (delete from server_phases p where server_name in (select name from gone)
      or (p.at < ${before} and exists (select from server_phases later
        where later.server_name = p.server_name and later.at > p.at and later.at <= ${before})))
    select 1`;
}
