// Mails to authors (docs/reference/submissions.md#notices): queued in the transaction of what they tell of, sent once by one
// replica, tried again until identity has taken them.

import type { Mesh } from "@svc/mesh";
import { isFault, notices } from "@svc/proto";
import { type Selectable, sql } from "kysely";
import type { BuildsDb, BuildsTrx, SubmissionNoticesTable } from "../database.ts";
import type { SubmissionDeps } from "./deps.ts";
import type { SubmissionRow } from "./row.ts";

type Kind = "submission-approved" | "submission-rejected" | "build-succeeded" | "build-failed";
type NoticeRow = Selectable<SubmissionNoticesTable>;

const mostFactChars = 500;
/** Longer than a call to identity takes. */
const claimSeconds = 60;
const mostBackoffSeconds = 3_600;
const givenUpAfter = "3 days";

const cut = (text: string) =>
  text.length <= mostFactChars ? text : `${text.slice(0, mostFactChars - 1).toWellFormed()}…`;

export async function queueNotice(
  trx: BuildsTrx,
  { event, kind, row, reason }: { event: string; kind: Kind; row: SubmissionRow; reason?: string },
): Promise<void> {
  const facts = { pack: cut(row.display_name), ...(reason !== undefined && { reason: cut(reason) }) };
  await trx
    .insertInto("submission_notices")
    .values({ event, user_id: row.submitted_by_id, kind, facts: JSON.stringify(facts) })
    .onConflict((conflict) => conflict.column("event").doNothing())
    .execute();
}

/** Queues a mail for every build of a submission that has ended; each is queued once. */
export async function queueEndedBuilds(db: BuildsDb | BuildsTrx): Promise<void> {
  await sql`
    insert into submission_notices (event, user_id, kind, facts)
    select 'build:' || b.id, s.submitted_by_id,
      case when b.status = 'succeeded' then 'build-succeeded' else 'build-failed' end,
      jsonb_build_object('pack', left(s.display_name, ${mostFactChars}), 'image', left(b.image_ref, ${mostFactChars}),
        'reason', left(coalesce(b.error, ''), ${mostFactChars}))
    from image_builds b join image_submissions s on s.id = b.submission_id
    where b.status in ('succeeded', 'failed') and b.finished_at > now() - interval '2 days'
      and not exists (select from submission_notices n where n.event = 'build:' || b.id)
    on conflict (event) do nothing`.execute(db);
}

type NoticeDeps = Pick<SubmissionDeps, "db" | "log"> & { mesh: Pick<Mesh, "call"> };

/** Sends what is due, one after the other. */
export async function sendNotices(deps: NoticeDeps, signal: AbortSignal): Promise<void> {
  await queueEndedBuilds(deps.db);
  while (!signal.aborted) {
    const claimed = await claim(deps.db);
    if (!claimed) return;
    await send(deps, claimed, signal);
  }
}

/** The next mail that is due, which no other replica takes for a while. */
async function claim(db: BuildsDb): Promise<NoticeRow | undefined> {
  return db
    .updateTable("submission_notices")
    .set({
      due_at: sql<Date>`now() + ${claimSeconds} * interval '1 second'`,
      attempts: sql<number>`attempts + 1`,
    })
    .where("id", "=", (eb) =>
      eb
        .selectFrom("submission_notices")
        .select("id")
        .where("sent_at", "is", null)
        .where("due_at", "<=", sql<Date>`now()`)
        .orderBy("id")
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .executeTakeFirst();
}

async function send({ db, mesh, log }: NoticeDeps, notice: NoticeRow, signal: AbortSignal): Promise<void> {
  const { id, user_id, kind, facts, attempts } = notice;
  const about = { notice: id, kind };
  try {
    const { result } = await mesh.call(
      notices.sendNotice,
      { user_id, kind: kind as Kind, facts },
      { signal },
    );
    await settle(db, id);
    log.info({ ...about, result }, "author notified");
  } catch (error) {
    if (isFault(error) && error.fault === "mail_undeliverable") {
      await settle(db, id);
      return log.warn(about, "mail to author was rejected");
    }
    const seconds = Math.min(mostBackoffSeconds, 5 * 2 ** Math.min(attempts, 12));
    log.warn(
      { ...about, error: (error as Error).message, retry_in_s: seconds },
      "mail to author failed; retrying",
    );
    await db
      .updateTable("submission_notices")
      .set({
        due_at: sql<Date>`now() + ${seconds} * interval '1 second'`,
        sent_at: sql<Date | null>`case when created_at < now() - ${givenUpAfter}::interval then now() end`,
      })
      .where("id", "=", id)
      .execute();
  }
}

async function settle(db: BuildsDb, id: number): Promise<void> {
  await db
    .updateTable("submission_notices")
    .set({ sent_at: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
}
