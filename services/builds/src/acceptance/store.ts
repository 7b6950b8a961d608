// All SQL of accepted findings.

import { randomBytes } from "node:crypto";
import type { acceptances } from "@svc/proto";
import { type Selectable, sql } from "kysely";
import type { BuildsDb, BuildsTrx, FindingAcceptancesTable } from "../database.ts";

type AcceptanceRow = Selectable<FindingAcceptancesTable>;

export function toAcceptance(row: AcceptanceRow): acceptances.Acceptance {
  return {
    id: row.id,
    finding_id: row.finding_id,
    package: row.package,
    ...(row.repository !== null && { repository: row.repository }),
    reason: row.reason,
    accepted_by: row.accepted_by,
    accepted_at: row.accepted_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}

type Page = { repository: string | undefined; limit: number; offset: number };

export async function listAcceptances(
  db: BuildsDb,
  { repository, limit, offset }: Page,
): Promise<{ rows: AcceptanceRow[]; total: number }> {
  const matching = () => {
    const all = db.selectFrom("finding_acceptances");
    if (repository === undefined) return all;
    return all.where((of) => of.or([of("repository", "is", null), of("repository", "=", repository)]));
  };
  const { total } = await matching()
    .select((of) => of.fn.countAll<string>().as("total"))
    .executeTakeFirstOrThrow();
  const rows = await matching().selectAll().orderBy("arrival", "desc").limit(limit).offset(offset).execute();
  return { rows, total: Number(total) };
}

/** What has not expired of a repository and of every image. */
export function findAcceptancesOf(db: BuildsDb, repository: string): Promise<AcceptanceRow[]> {
  return db
    .selectFrom("finding_acceptances")
    .selectAll()
    .where((of) => of.or([of("repository", "is", null), of("repository", "=", repository)]))
    .where("expires_at", ">", sql<Date>`now()`)
    .orderBy("arrival")
    .execute();
}

type New = Pick<AcceptanceRow, "finding_id" | "package" | "reason" | "accepted_by" | "expires_at"> & {
  repository: string | undefined;
};

/** Undefined when there are as many as `most` of this repository, or of every image. */
export async function saveAcceptance(
  trx: BuildsTrx,
  about: New,
  most: number,
): Promise<AcceptanceRow | undefined> {
  await sql`select pg_advisory_xact_lock(hashtext('builds.acceptances'))`.execute(trx);
  const repository = about.repository ?? null;
  const row = await trx
    .insertInto("finding_acceptances")
    .values({ id: randomBytes(16).toString("hex"), ...about, repository })
    .onConflict((conflict) =>
      conflict.columns(["repository", "finding_id", "package"]).doUpdateSet({
        reason: about.reason,
        accepted_by: about.accepted_by,
        accepted_at: sql<Date>`now()`,
        expires_at: about.expires_at,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  const { count } = await trx
    .selectFrom("finding_acceptances")
    .select((of) => of.fn.countAll<string>().as("count"))
    .where("repository", "is not distinct from", repository)
    .executeTakeFirstOrThrow();
  return Number(count) > most ? undefined : row;
}

export function deleteAcceptance(trx: BuildsTrx, id: string): Promise<AcceptanceRow | undefined> {
  return trx.deleteFrom("finding_acceptances").where("id", "=", id).returningAll().executeTakeFirst();
}
