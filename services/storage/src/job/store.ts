// All SQL of what runs on worlds.

import { auditSubject, type backups } from "@svc/proto";
import type { Insertable } from "kysely";
import { sql } from "kysely";
import type { JobRow, StorageDb, StorageTrx, ThenRestoreReason, WorldJobsTable } from "../database/tables.ts";

export type NewJob = Insertable<WorldJobsTable>;

type AnyDb = StorageDb | StorageTrx;
const open = ["starting", "running"] as const;

export async function insertJob(trx: StorageTrx, row: NewJob): Promise<JobRow> {
  return trx.insertInto("world_jobs").values(row).returningAll().executeTakeFirstOrThrow();
}

export function findJob(db: AnyDb, job: string): Promise<JobRow | undefined> {
  return db.selectFrom("world_jobs").selectAll().where("job", "=", job).executeTakeFirst();
}

export function findJobByRunKey(db: AnyDb, runKey: string): Promise<JobRow | undefined> {
  return db.selectFrom("world_jobs").selectAll().where("run_key", "=", runKey).executeTakeFirst();
}

/** Everything whose end or whose next step is still to come, the oldest first. */
export function findOpenJobs(db: AnyDb, limit: number): Promise<JobRow[]> {
  return db
    .selectFrom("world_jobs")
    .selectAll()
    .where((is) => is.or([is("state", "in", [...open]), is("then_restore", "=", "pending")]))
    .orderBy("started_at")
    .limit(limit)
    .execute();
}

/** The newest of a server first; with an owner only those of the time when the world was theirs. */
export function listJobsOf(
  db: AnyDb,
  about: { server: string; owner?: string; limit: number },
): Promise<JobRow[]> {
  const { server, owner, limit } = about;
  const all = db.selectFrom("world_jobs").selectAll().where("server_name", "=", server);
  return (owner === undefined ? all : all.where("owner_id", "=", owner))
    .orderBy("started_at", "desc")
    .orderBy("job")
    .limit(limit)
    .execute();
}

/** Every backup and restore that runs or is to run, on whatever world, the oldest first. */
export function findSlotJobs(db: AnyDb): Promise<JobRow[]> {
  return db
    .selectFrom("world_jobs")
    .selectAll()
    .where("kind", "in", ["backup", "restore"])
    .where((is) => is.or([is("state", "in", [...open]), is("then_restore", "=", "pending")]))
    .orderBy("started_at")
    .orderBy("job")
    .execute();
}

/** True while a restore reads this backup or waits for its safety snapshot, or while a world travels in it. */
export async function isBackupInUse(db: AnyDb, backupId: string): Promise<boolean> {
  const row = await db
    .selectFrom("world_jobs")
    .select("job")
    .where("backup_id", "=", backupId)
    .where((is) =>
      is.or([
        is.and([is("kind", "=", "restore"), is("state", "in", [...open])]),
        is("then_restore", "=", "pending"),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  if (row) return true;
  const move = await db
    .selectFrom("world_migrations")
    .select("id")
    .where("backup_id", "=", backupId)
    .where("state", "!=", "succeeded")
    .where("abandoned", "=", false)
    .limit(1)
    .executeTakeFirst();
  return move !== undefined;
}

/** The restore of a server that runs or is to run. */
export function findRestoreOf(db: AnyDb, server: string): Promise<JobRow | undefined> {
  return db
    .selectFrom("world_jobs")
    .selectAll()
    .where("server_name", "=", server)
    .where((is) =>
      is.or([
        is.and([is("kind", "=", "restore"), is("state", "in", [...open])]),
        is("then_restore", "=", "pending"),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
}

const sendDueEntry = sql`
  insert into outbox (subject, body) select ${auditSubject("storage")}, audit from due where audit is not null
`;

/** Notes that the Job is there; its audit entry goes out with that. */
export async function markRunning(db: AnyDb, job: string): Promise<void> {
  await sql`
    with due as (
      select job, audit from world_jobs where job = ${job} and state = 'starting' for update
    ), sent as (
      ${sendDueEntry}
    )
    update world_jobs set state = 'running', audit = null from due where world_jobs.job = due.job
  `.execute(db);
}

type JobEnd = {
  state: "succeeded" | "failed";
  message?: string;
  code?: backups.WorldJobCode | undefined;
  at: Date;
};

/** Notes an end once; false when it was noted before. An audit entry that has not gone out yet does so now. */
export async function finishJob(
  trx: AnyDb,
  job: string,
  { state, message, code, at }: JobEnd,
): Promise<boolean> {
  const done = await sql`
    with due as (
      select job, audit from world_jobs where job = ${job} and state in ('starting', 'running') for update
    ), sent as (
      ${sendDueEntry}
    )
    update world_jobs set state = ${state}, message = ${message ?? ""}, code = ${code ?? ""},
      finished_at = ${at}, audit = null
    from due where world_jobs.job = due.job
  `.execute(trx);
  return (done.numAffectedRows ?? 0n) > 0n;
}

/** Ends a Job that was never created: nothing happened, so its audit entry is dropped and its run may start another. */
export async function rejectJob(db: AnyDb, job: string, end: { message: string; at: Date }): Promise<void> {
  await db
    .updateTable("world_jobs")
    .set({
      state: "failed",
      message: end.message,
      code: "job_failed",
      finished_at: end.at,
      audit: null,
      run_key: null,
    })
    .where("job", "=", job)
    .where("state", "in", [...open])
    .execute();
}

/** Its Job was never created: the caller's run may start another, and there is nothing to audit. */
export async function withdrawStart(db: AnyDb, job: string): Promise<void> {
  await db.updateTable("world_jobs").set({ run_key: null, audit: null }).where("job", "=", job).execute();
}

/** From now on the end is told by the Job that looks for the archive. */
export async function startRecovery(
  db: AnyDb,
  job: string,
  about: { recovery: string; message: string },
): Promise<void> {
  await db
    .updateTable("world_jobs")
    .set(about)
    .where("job", "=", job)
    .where("state", "in", [...open])
    .where("recovery", "is", null)
    .execute();
}

/** Settles what follows a safety snapshot, once. */
export async function endThenRestore(
  db: AnyDb,
  job: string,
  end: { to: "started" } | { to: "abandoned"; reason: ThenRestoreReason },
): Promise<boolean> {
  const done = await db
    .updateTable("world_jobs")
    .set({
      then_restore: end.to,
      ...(end.to === "abandoned" && { then_restore_reason: end.reason }),
    })
    .where("job", "=", job)
    .where("then_restore", "=", "pending")
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

/** When the newest backup of a kind that did not fail was asked for; undefined when there is none. */
export async function findLastStart(
  db: AnyDb,
  about: { server: string; reason: string },
): Promise<Date | undefined> {
  const row = await db
    .selectFrom("world_jobs")
    .select("started_at")
    .where("server_name", "=", about.server)
    .where(sql<boolean>`reason = ${about.reason}`)
    .where("state", "!=", "failed")
    .orderBy("started_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.started_at;
}

/** Servers whose restore point failed since then, with the owner of that time. */
export async function findFailedSince(db: AnyDb, since: Date): Promise<Set<string>> {
  const rows = await db
    .selectFrom("world_jobs")
    .select(["server_name", "owner_id"])
    .where(sql<boolean>`reason = 'scheduled'`)
    .where("state", "=", "failed")
    .where("started_at", ">", since)
    .execute();
  return new Set(rows.map((row) => `${row.server_name}/${row.owner_id ?? ""}`));
}

export async function deleteOldJobs(db: AnyDb, before: Date): Promise<void> {
  await db.deleteFrom("world_jobs").where("finished_at", "<", before).execute();
}
