// Mails to owners whose webhook svc has switched off (docs/reference/webhooks.md#off), tried again until identity has taken them.

import type { Mesh } from "@svc/mesh";
import { isFault, notices } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import { sql } from "kysely";
import type { WatchdogDb } from "../database.ts";
import type { WebhookRow } from "./queue.ts";

type NoticeDeps = { db: WatchdogDb; mesh: Pick<Mesh, "call">; log: Logger };

const kinds = {
  gone: "webhook-gone",
  failing: "webhook-failing",
  access_ended: "webhook-access-ended",
} as const;
const mostAttempts = 20;

/** Sends what is due, one after the other. */
export async function sendNotices(deps: NoticeDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const due = await claim(deps.db);
    if (!due) return;
    await send(deps, due, signal);
  }
}

/** No other replica takes it meanwhile; each attempt waits twice as long as the one before, up to an hour. */
async function claim(db: WatchdogDb): Promise<WebhookRow | undefined> {
  const { rows } = await sql<WebhookRow>`update webhooks
    set notice_due_at = now() + least(3600, 60 * power(2, notice_attempts)) * interval '1 second',
      notice_attempts = notice_attempts + 1
    where id = (select id from webhooks where notice_due_at <= now()
      order by notice_due_at limit 1 for update skip locked)
    returning *`.execute(db);
  return rows[0];
}

async function send({ db, mesh, log }: NoticeDeps, webhook: WebhookRow, signal: AbortSignal): Promise<void> {
  const { id, server_name: server, owner_id: user_id, label, host, off_reason, enabled } = webhook;
  const kind = kinds[(off_reason ?? "") as keyof typeof kinds];
  const done = () => db.updateTable("webhooks").set({ notice_due_at: null }).where("id", "=", id).execute();
  if (enabled || !kind || server === null || user_id === null) return void (await done());
  try {
    const facts = { server, label, host };
    await mesh.call(notices.sendNotice, { user_id, kind, facts }, { signal });
    await done();
  } catch (error) {
    log.warn({ webhook: id, error: (error as Error).message }, "mailing about a webhook failed");
    const isFinal = isFault(error) && error.fault === "mail_undeliverable";
    if (isFinal || webhook.notice_attempts >= mostAttempts) await done();
  }
}
