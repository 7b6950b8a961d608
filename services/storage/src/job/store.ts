// All SQL of world Jobs.

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

/** All Jobs that have not ended or whose next step is pending, the oldest first. */
export function findOpenJobs(db: AnyDb, limit: number): Promise<JobRow[]> {
  return db
    .selectFrom("world_jobs")
    .selectAll()
    .where((is) => is.or([is("state", "in", [...open]), is("then_restore", "=", "pending")]))
    .orderBy("started_at")
    .limit(limit)
    .execute();
}

/** The newest of a server first; with an owner only those since the world became theirs. */
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

/** Every running or pending backup and restore over all worlds, the oldest first. */
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

/** True while a restore reads this backup or waits for its safety snapshot, or while a move uses it. */
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

/** The running or pending restore of a server. */
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

/** Records that the Job exists; its audit entry is published with that. */
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

/** Records an end once; false when it was recorded before. An unpublished audit entry is published now. */
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

/** Ends a Job that was never created: its audit entry is dropped and its run may start another. */
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

/** The Job was never created: the caller's run may start another, and there is nothing to audit. */
export async function withdrawStart(db: AnyDb, job: string): Promise<void> {
  await db.updateTable("world_jobs").set({ run_key: null, audit: null }).where("job", "=", job).execute();
}

/** From now on the Job that checks the archive decides the end. */
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

/** Records what follows a safety snapshot, once. */
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

/** When the newest backup of a kind that did not fail was requested; undefined when there is none. */
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
