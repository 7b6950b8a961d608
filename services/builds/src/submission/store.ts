// SQL of submissions.

import { randomBytes } from "node:crypto";
import { Fault, type submissions } from "@svc/proto";
import { auditRow, type NewAuditEntry } from "@svc/store";
import { type ExpressionBuilder, sql, type UpdateObject } from "kysely";
import type { BuildsDb, BuildsTrx, Tables } from "../database.ts";
import type { ListedRow, SubmissionRow } from "./row.ts";

function findSubmission(db: BuildsDb | BuildsTrx, id: string): Promise<SubmissionRow | undefined> {
  return db.selectFrom("image_submissions").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function getSubmission(db: BuildsDb, id: string): Promise<SubmissionRow> {
  const row = await findSubmission(db, id);
  if (!row) throw new Fault("not_found", { message: "There is no submission of this ID." });
  return row;
}

/** A submission that its author may still change. Throws `not_found`, also for somebody else's, and `already_reviewed`. */
export async function getOwnPending(
  db: BuildsDb | BuildsTrx,
  { id, userId, lock = false }: { id: string; userId: string; lock?: boolean },
): Promise<SubmissionRow> {
  const query = db.selectFrom("image_submissions").selectAll().where("id", "=", id);
  const row = await (lock ? query.forUpdate() : query).executeTakeFirst();
  if (row?.submitted_by_id !== userId) {
    throw new Fault("not_found", { message: "You have no submission of this ID." });
  }
  if (row.status !== "pending_review") throw new Fault("already_reviewed");
  return row;
}

export async function lockSubmission(trx: BuildsTrx, id: string): Promise<SubmissionRow> {
  const row = await trx
    .selectFrom("image_submissions")
    .selectAll()
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw new Fault("not_found", { message: "There is no submission of this ID." });
  return row;
}

export function addSubmission(
  trx: BuildsTrx,
  about: { userId: string; username: string; displayName: string },
): Promise<SubmissionRow> {
  return trx
    .insertInto("image_submissions")
    .values({
      id: `sub-${randomBytes(12).toString("hex")}`,
      submitted_by: about.username,
      submitted_by_id: about.userId,
      display_name: about.displayName,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteSubmission(trx: BuildsTrx, id: string): Promise<void> {
  await trx.deleteFrom("image_submissions").where("id", "=", id).execute();
}

export function changeSubmission(
  trx: BuildsTrx,
  id: string,
  change: UpdateObject<Tables, "image_submissions">,
): Promise<SubmissionRow> {
  return trx
    .updateTable("image_submissions")
    .set(change as never)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function addAudit(trx: BuildsTrx, entry: NewAuditEntry): Promise<void> {
  await trx.insertInto("outbox").values(auditRow("builds", entry)).execute();
}

/** As lists read them: with the state of the build. */
function selectListed(db: BuildsDb) {
  return db
    .selectFrom("image_submissions")
    .leftJoin("image_builds", "image_builds.id", "image_submissions.build_id")
    .selectAll("image_submissions")
    .select(["image_builds.status as build_status", "image_builds.error as build_error"]);
}

/** Throws `not_found`, with a user's ID also for the submissions of others. */
export async function getListed(db: BuildsDb, id: string, userId?: string): Promise<ListedRow> {
  const row = await selectListed(db).where("image_submissions.id", "=", id).executeTakeFirst();
  if (!row || (userId !== undefined && row.submitted_by_id !== userId)) {
    const whose = userId === undefined ? "There is" : "You have";
    throw new Fault("not_found", { message: `${whose} no submission of this ID.` });
  }
  return row;
}

type ListWanted = {
  /** Only this account's. */
  userId?: string | undefined;
  status?: submissions.SubmissionStatus | undefined;
  query?: string | undefined;
  limit: number;
  offset: number;
};

type Listing = { rows: ListedRow[]; total: number; counts: submissions.SubmissionPage["counts"] };

export async function listSubmissions(db: BuildsDb, wanted: ListWanted): Promise<Listing> {
  const { userId, status, query, limit, offset } = wanted;
  const matches = (eb: ExpressionBuilder<Tables, "image_submissions">) =>
    eb.and([
      ...(status === undefined ? [] : [eb("image_submissions.status", "=", status)]),
      ...(query === undefined || query === "" ? [] : [hasText(query)]),
    ]);
  const whose = (eb: ExpressionBuilder<Tables, "image_submissions">) =>
    eb.and(userId === undefined ? [] : [eb("submitted_by_id", "=", userId)]);
  const [rows, groups] = await Promise.all([
    selectListed(db)
      .where(whose as never)
      .where(matches as never)
      .orderBy("image_submissions.arrival", "desc")
      .limit(limit)
      .offset(offset)
      .execute(),
    db
      .selectFrom("image_submissions")
      .select((eb) => [
        "status",
        eb.fn.countAll<number>().as("count"),
        eb.fn.countAll<number>().filterWhere(matches).as("matching"),
      ])
      .where(whose)
      .groupBy("status")
      .execute(),
  ]);
  const counts = { pending_review: 0, approved: 0, rejected: 0 };
  for (const group of groups) counts[group.status] = group.count;
  return { rows, counts, total: groups.reduce((sum, { matching }) => sum + matching, 0) };
}

function hasText(query: string) {
  const part = query.toLowerCase();
  return sql<boolean>`(strpos(lower(image_submissions.id), ${part}) > 0
    or strpos(lower(image_submissions.submitted_by), ${part}) > 0
    or strpos(lower(image_submissions.display_name), ${part}) > 0)`;
}

/** The author's approved submission before this one was reviewed, if its context is kept. */
export function findCompared(db: BuildsDb, row: SubmissionRow): Promise<SubmissionRow | undefined> {
  let query = db
    .selectFrom("image_submissions")
    .selectAll()
    .where("submitted_by_id", "=", row.submitted_by_id)
    .where("status", "=", "approved")
    .where("context_index", "is not", null)
    .where("id", "!=", row.id);
  if (row.reviewed_at) query = query.where("reviewed_at", "<", row.reviewed_at);
  return query.orderBy("reviewed_at", "desc").limit(1).executeTakeFirst();
}
