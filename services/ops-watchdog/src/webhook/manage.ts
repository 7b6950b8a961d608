// What people do with webhooks (docs/reference/webhooks.md#operations). Each change and its audit entry commit together.

import { randomBytes } from "node:crypto";
import { auditActor, type Context } from "@svc/mesh";
import { type AnyContract, type webhooks as contracts, Fault } from "@svc/proto";
import type { Language } from "@svc/proto/language";
import { auditRow, type Trx } from "@svc/store";
import { sql } from "kysely";
import type { Tables, WatchdogDb } from "../database.ts";
import { checkUrl, type Reach } from "./address.ts";
import { assertMayBeTold, type Place } from "./place.ts";
import type { WebhookRow } from "./queue.ts";
import { newSecret, rotationMs } from "./signature.ts";
import { type Counts, toWebhook } from "./view.ts";

export type ManageDeps = {
  db: WatchdogDb;
  reach: Reach;
  /** How many there may be. */
  limits: { server: number; platform: number };
  onQueued: () => void;
};

export type Call = { context: Context<AnyContract>; place: Place };

/** Those of a place; rows of another owner of the server count for nothing. */
function ofPlace(db: WatchdogDb | Trx<Tables>, { server, owner }: Place) {
  const all = db.selectFrom("webhooks").selectAll();
  if (server === null) return all.where("server_name", "is", null);
  // A server that is nobody's has none.
  return all.where("server_name", "=", server).where("owner_id", "=", owner ?? "");
}

export async function list({ db, limits }: ManageDeps, place: Place) {
  const rows = await ofPlace(db, place).orderBy("created_at").orderBy("id").execute();
  const counts = await countsOf(
    db,
    rows.map(({ id }) => id),
  );
  const now = Date.now();
  return {
    webhooks: rows.map((row) => toWebhook(row, counts.get(row.id) ?? { waiting: 0, dead: 0 }, now)),
    limit: place.server === null ? limits.platform : limits.server,
  };
}

async function countsOf(db: WatchdogDb, ids: readonly string[]): Promise<Map<string, Counts>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ webhook_id: string } & Counts>`select webhook_id,
      count(*) filter (where state = 'waiting')::int as waiting, count(*) filter (where state = 'dead')::int as dead
    from webhook_deliveries where webhook_id = any(${ids}::text[]) group by webhook_id`.execute(db);
  return new Map(rows.map(({ webhook_id, ...counts }) => [webhook_id, counts]));
}

async function viewOf(db: WatchdogDb, row: WebhookRow): Promise<contracts.Webhook> {
  const counts = (await countsOf(db, [row.id])).get(row.id);
  return toWebhook(row, counts ?? { waiting: 0, dead: 0 }, Date.now());
}

type Wanted = {
  label: string;
  events: readonly contracts.WebhookEventType[];
  language: Language;
};

export async function create(
  deps: ManageDeps,
  call: Call,
  { url, format, ...wanted }: Wanted & { url: string; format: contracts.WebhookFormat },
): Promise<{ webhook: contracts.Webhook; secret?: string }> {
  const { db, limits } = deps;
  const { place } = call;
  assertMayBeTold(place, wanted.events);
  const limit = place.server === null ? limits.platform : limits.server;
  const secret = format === "json" ? newSecret() : null;
  const row = await db.transaction().execute(async (trx) => {
    // Two at once must not both find the last place.
    await sql`select pg_advisory_xact_lock(hashtext('webhooks'), hashtext(${place.server ?? ""}))`.execute(
      trx,
    );
    const there = await ofPlace(trx, place).execute();
    if (there.length >= limit) throw new Fault("webhook_limit");
    const made = await trx
      .insertInto("webhooks")
      .values({
        id: `whk-${randomBytes(12).toString("base64url")}`,
        ...{ server_name: place.server, owner_id: place.owner, format, secret },
        ...addressOf(deps, url),
        ...savedOf(call.context, wanted),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await writeAudit(trx, call, { action: "webhook.create", row: made });
    return made;
  });
  return { webhook: await viewOf(db, row), ...(secret !== null && { secret }) };
}

function addressOf({ reach }: ManageDeps, text: string): { url: string; host: string } {
  const checked = checkUrl(text, reach);
  if ("problem" in checked) throw new Fault("bad_webhook_url", { message: checked.problem });
  return { url: checked.url.href, host: checked.host };
}

function savedOf({ principal }: Context<AnyContract>, { label, events, language }: Wanted) {
  if (principal.kind !== "account") throw new Fault("forbidden");
  const by = { saved_by: principal.user_id, saved_by_name: principal.username };
  return { label, language, events: [...new Set(events)], ...by };
}

/** A webhook of this place, locked until the transaction ends. */
async function lock(trx: Trx<Tables>, place: Place, id: string): Promise<WebhookRow> {
  const row = await ofPlace(trx, place).where("id", "=", id).forUpdate().executeTakeFirst();
  if (!row) throw new Fault("webhook_not_found");
  return row;
}

/** A webhook of this place. */
export async function find(db: WatchdogDb, place: Place, id: string): Promise<WebhookRow> {
  const row = await ofPlace(db, place).where("id", "=", id).executeTakeFirst();
  if (!row) throw new Fault("webhook_not_found");
  return row;
}

export async function change(
  deps: ManageDeps,
  call: Call,
  { id, url, enabled, ...wanted }: Wanted & { id: string; url?: string | undefined; enabled: boolean },
): Promise<contracts.Webhook> {
  const { db } = deps;
  assertMayBeTold(call.place, wanted.events);
  const row = await db.transaction().execute(async (trx) => {
    const before = await lock(trx, call.place, id);
    const offReason = before.enabled ? "by_hand" : before.off_reason;
    const changed = await trx
      .updateTable("webhooks")
      .set({
        ...savedOf(call.context, wanted),
        ...(url !== undefined && addressOf(deps, url)),
        ...{ enabled, off_reason: enabled ? null : offReason },
        ...(enabled && !before.enabled && { failing_since: null, notice_due_at: null }),
      })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const more = { enabled, address_changed: url !== undefined };
    await writeAudit(trx, call, { action: "webhook.change", row: changed, more });
    return changed;
  });
  deps.onQueued();
  return viewOf(db, row);
}

export async function remove({ db }: ManageDeps, call: Call, id: string): Promise<null> {
  await db.transaction().execute(async (trx) => {
    const row = await lock(trx, call.place, id);
    await trx.deleteFrom("webhooks").where("id", "=", id).execute();
    await writeAudit(trx, call, { action: "webhook.delete", row });
  });
  return null;
}

export async function rotate(
  { db }: ManageDeps,
  call: Call,
  id: string,
): Promise<{ secret: string; old_secret_until: string }> {
  const secret = newSecret();
  const until = new Date(Date.now() + rotationMs);
  await db.transaction().execute(async (trx) => {
    const row = await lock(trx, call.place, id);
    if (row.secret === null) throw new Fault("webhook_unsigned");
    await trx
      .updateTable("webhooks")
      .set({ secret, old_secret: row.secret, old_secret_until: until })
      .where("id", "=", id)
      .execute();
    await writeAudit(trx, call, { action: "webhook.rotate", row });
  });
  return { secret, old_secret_until: until.toISOString() };
}

type Entry = {
  action: string;
  row: Pick<WebhookRow, "id" | "host" | "format" | "events">;
  more?: Record<string, unknown>;
};

/** Never an address or a secret. */
export async function writeAudit(
  trx: Trx<Tables>,
  { context, place }: Call,
  { action, row, more = {} }: Entry,
): Promise<void> {
  const { id, host, format, events } = row;
  const entry = {
    ...auditActor(context),
    action,
    ...(place.server !== null && { server_name: place.server }),
    payload: { id, host, format, events, ...more },
  };
  await trx.insertInto("outbox").values(auditRow("ops-watchdog", entry)).execute();
}
