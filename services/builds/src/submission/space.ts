// What is used of the limits, read and reserved under one advisory lock, so that many replicas count as one.

import { sql } from "kysely";
import type { Settings } from "../config.ts";
import type { BuildsDb, BuildsTrx } from "../database.ts";
import type { SubmissionDeps } from "./deps.ts";
import { checkCooldown, checkRoom, type Usage } from "./rules.ts";

type Volume = Usage["volume"];
type CooldownKind = "create" | "upload";

/** Runs `work` while no other replica decides about limits. The volume is measured before. */
export async function withLimits<T>(
  { db, contexts }: Pick<SubmissionDeps, "db" | "contexts">,
  work: (trx: BuildsTrx, volume: Volume) => Promise<T>,
): Promise<T> {
  const volume = await contexts.volume();
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('builds.submission-limits'))`.execute(trx);
    return work(trx, volume);
  });
}

type SpaceWanted = { userId: string; bytes: number; volume: Volume };

/** Throws `submission_quota_exceeded` or `uploads_full`. */
export async function assertRoom(
  trx: BuildsTrx,
  { registry, builds }: Settings,
  { userId, bytes, volume }: SpaceWanted,
): Promise<void> {
  const { rows } = await sql<{ account: number; all: number; reserved: number }>`
    with used as (
      select submitted_by_id as user_id, context_bytes as bytes, 0::bigint as reserved
      from image_submissions where status <> 'approved' and context_bytes is not null
      union all
      select s.submitted_by_id, u.received_bytes + live.bytes, live.bytes
      from submission_uploads u join image_submissions s on s.id = u.submission_id,
      lateral (select case when u.writer_until > now() then u.reserved_bytes else 0 end as bytes) live
    )
    select coalesce(sum(bytes) filter (where user_id = ${userId}), 0)::bigint as account,
      coalesce(sum(bytes), 0)::bigint as "all", coalesce(sum(reserved), 0)::bigint as reserved
    from used`.execute(trx);
  const used = rows[0] ?? { account: 0, all: 0, reserved: 0 };
  const limits = {
    accountBytes: builds.submission_account_bytes,
    allBytes: registry.user_uploads_max_bytes,
    keepFree: registry.user_uploads_keep_free,
  };
  checkRoom({ ...used, volume }, limits, bytes);
}

type Cooldown = { userId: string; kind: CooldownKind };

/** Throws `submission_cooldown`. The clock is that of the database, which all replicas share. */
export async function assertCooledDown(
  trx: BuildsDb | BuildsTrx,
  { builds }: Settings,
  { userId, kind }: Cooldown,
): Promise<void> {
  const row = await trx
    .selectFrom("submission_cooldowns")
    .select(["started_at", sql<Date>`clock_timestamp()`.as("now")])
    .where("user_id", "=", userId)
    .where("kind", "=", kind)
    .executeTakeFirst();
  const cooldownMs = kind === "create" ? builds.submission_cooldown : builds.upload_cooldown;
  if (row) checkCooldown(row.started_at, cooldownMs, row.now);
}

export async function startCooldown(trx: BuildsTrx, { userId, kind }: Cooldown): Promise<void> {
  await trx
    .insertInto("submission_cooldowns")
    .values({ user_id: userId, kind })
    .onConflict((conflict) =>
      conflict.columns(["user_id", "kind"]).doUpdateSet({ started_at: sql<Date>`clock_timestamp()` }),
    )
    .execute();
}
