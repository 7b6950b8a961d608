// Deliveries for people: their list, a test, and one more time (docs/reference/webhooks.md#deliveries).

import { type webhooks as contracts, Fault } from "@svc/proto";
import { sql } from "kysely";
import { type Call, find, type ManageDeps, writeAudit } from "./manage.ts";
import { mayBeTold, type Place } from "./place.ts";
import { type DeliveryRow, enqueuePing, type WebhookRow } from "./queue.ts";
import { toDelivery } from "./view.ts";

const testPauseMs = 10_000;

type Page = { id: string; state?: contracts.DeliveryState | undefined; limit: number; offset: number };

export async function listDeliveries(
  { db }: ManageDeps,
  place: Place,
  { id, state, limit, offset }: Page,
): Promise<{ deliveries: contracts.Delivery[]; total: number }> {
  await find(db, place, id);
  const all = db.selectFrom("webhook_deliveries").where("webhook_id", "=", id);
  const wanted = state === undefined ? all : all.where("state", "=", state);
  const [rows, counted] = await Promise.all([
    wanted.selectAll().orderBy("number", "desc").limit(limit).offset(offset).execute(),
    wanted.select(sql<number>`count(*)::int`.as("total")).executeTakeFirstOrThrow(),
  ]);
  return { deliveries: rows.map((row) => shownAt(place, row)), total: counted.total };
}

/** Receivers may answer with what they were told. */
function shownAt(place: Place, row: DeliveryRow): contracts.Delivery {
  const { response, ...shown } = toDelivery(row);
  return { ...shown, ...(response !== undefined && mayBeTold(place, row.type) && { response }) };
}

async function findOn({ db }: ManageDeps, place: Place, id: string): Promise<WebhookRow> {
  const row = await find(db, place, id);
  if (!row.enabled) throw new Fault("webhook_off");
  return row;
}

export async function test(deps: ManageDeps, call: Call, id: string): Promise<contracts.Delivery> {
  const row = await findOn(deps, call.place, id);
  const sent = await deps.db.transaction().execute(async (trx) => {
    await trx.selectFrom("webhooks").select("id").where("id", "=", id).forUpdate().execute();
    const { rows } = await sql<{ ms: number | null }>`
      select extract(epoch from now() - max(created_at))::float8 * 1000 as ms from webhook_deliveries
      where webhook_id = ${id} and type = 'ping'`.execute(trx);
    const waitMs = testPauseMs - (rows[0]?.ms ?? testPauseMs);
    if (waitMs > 0)
      throw new Fault("webhook_test_cooldown", { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
    const ping = await enqueuePing(trx, id);
    await writeAudit(trx, call, { action: "webhook.test", row });
    return ping;
  });
  deps.onQueued();
  return toDelivery(sent);
}

/** One that is being sent stays as it is; one that waits is sent at once, with all its attempts. */
export async function redeliver(
  deps: ManageDeps,
  call: Call,
  { id, delivery }: { id: string; delivery: string },
): Promise<contracts.Delivery> {
  const row = await findOn(deps, call.place, id);
  const sent = await deps.db.transaction().execute(async (trx) => {
    const { rows } = await sql<DeliveryRow>`update webhook_deliveries
      set state = 'waiting', attempts = 0, due_at = now(), finished_at = null, lease = null, lease_until = null
      where id = ${delivery} and webhook_id = ${id} and (lease_until is null or lease_until < now())
      returning *`.execute(trx);
    const found = rows[0] ?? (await findDelivery(trx, { id, delivery }));
    if (rows[0])
      await writeAudit(trx, call, { action: "webhook.redeliver", row, more: { delivery: found.id } });
    return found;
  });
  deps.onQueued();
  return shownAt(call.place, sent);
}

async function findDelivery(
  db: Pick<ManageDeps["db"], "selectFrom">,
  { id, delivery }: { id: string; delivery: string },
): Promise<DeliveryRow> {
  const row = await db
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("id", "=", delivery)
    .where("webhook_id", "=", id)
    .executeTakeFirst();
  if (!row) throw new Fault("delivery_not_found");
  return row;
}
