// Mails to owners whose server crashed and does not run (docs/reference/crashes.md#mail): queued with the report, sent by one
// replica, tried again until identity has taken them.

import type { Mesh } from "@svc/mesh";
import { isFault, notices } from "@svc/proto";
import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import { type Selectable, sql } from "kysely";
import type { LifecycleSettings } from "../config.ts";
import type { CrashNoticesTable, LifecycleStore } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";

type NoticeRow = Selectable<CrashNoticesTable>;
type NoticeDeps = {
  database: LifecycleStore;
  mesh: Pick<Mesh, "call">;
  settings: Pick<LifecycleSettings, "crash_mail_interval">;
  log: Logger;
};

const mailOf = { stopped: "server-crashed", looping: "server-crash-loop", left: "server-hung" } as const;

/** Longer than a call to identity takes. */
const claimedFor = sql`interval '1 minute'`;
const mostBackoffSeconds = 3_600;
/** What happened yesterday is no news. */
const givenUpAfter = sql`interval '1 day'`;
const keptFor = sql`interval '7 days'`;

export function startCrashNotices(deps: NoticeDeps): { close: () => Promise<void> } {
  return startLoop((signal) => sendCrashNotices(deps, signal), {
    everyMs: deps.settings.crash_mail_interval,
    onError: (error) => deps.log.warn({ error: error.message }, "mails about crashes failed; retrying"),
  });
}

/** Sends what is due, one after the other. */
const sendCrashNotices = withDatabaseFaults(async (deps: NoticeDeps, signal: AbortSignal) => {
  const { db } = deps.database;
  await sql`delete from crash_notices where created_at < now() - ${keptFor}`.execute(db);
  while (!signal.aborted) {
    const claimed = await claim(deps);
    if (!claimed) return;
    await send(deps, claimed, signal);
  }
});

/** The next mail that is due to whoever still owns the server; no other replica takes it for a while. */
async function claim({ database: { db } }: NoticeDeps): Promise<NoticeRow | undefined> {
  await sql`update crash_notices n set done_at = now() where done_at is null and (
      created_at < now() - ${givenUpAfter}
      or not exists (select from servers s where s.name = n.server_name and s.owner_id = n.owner_id
        and s.deleted_at is null))`.execute(db);
  const { rows } = await sql<NoticeRow>`update crash_notices
    set due_at = now() + ${claimedFor}, attempts = attempts + 1
    where id = (select id from crash_notices where done_at is null and due_at <= now()
      order by created_at limit 1 for update skip locked)
    returning *`.execute(db);
  return rows[0];
}

async function send(
  { database: { db }, mesh, log }: NoticeDeps,
  notice: NoticeRow,
  signal: AbortSignal,
): Promise<void> {
  const { id, server_name: server, owner_id: user_id, kind, cause, at, attempts } = notice;
  const done = () => sql`update crash_notices set done_at = now() where id = ${id}`.execute(db);
  const facts = { server, cause, at: at.toISOString() };
  try {
    const { result } = await mesh.call(
      notices.sendNotice,
      { user_id, kind: mailOf[kind], facts },
      { signal },
    );
    await done();
    log.info({ server, kind, result }, "owner told of a crash");
  } catch (error) {
    if (isFault(error) && error.fault === "mail_undeliverable") {
      await done();
      return log.warn({ server, kind }, "mail about a crash was rejected");
    }
    const seconds = Math.min(mostBackoffSeconds, 5 * 2 ** Math.min(attempts, 12));
    const about = { server, kind, error: (error as Error).message, retry_in_s: seconds };
    log.warn(about, "mail about a crash failed; retrying");
    await sql`update crash_notices set due_at = now() + ${seconds}::int * interval '1 second' where id = ${id}`.execute(
      db,
    );
  }
}
