// The queue of deliveries in the database (docs/reference/webhooks.md#attempts). A row that is leased is being sent; what died
// with a process is due again when its lease has ended.

import { randomUUID } from "node:crypto";
import type { Trx } from "@svc/store";
import { type Selectable, sql } from "kysely";
import type { Tables, WatchdogDb, WebhookDeliveriesTable, WebhooksTable } from "../database.ts";
import { type Next, type Outcome, spread } from "./backoff.ts";
import { type Happened, isAlert, laneOf } from "./event.ts";
import type { Failure } from "./failure.ts";
import type { Room } from "./room.ts";

export type DeliveryRow = Selectable<WebhookDeliveriesTable>;
export type WebhookRow = Selectable<WebhooksTable>;

/** Deliveries that may wait for one webhook; of more the oldest are dropped. */
const mostWaiting = 1_000;
/** Longer than an attempt takes with everything around it. */
const leaseMs = 30_000;

const milliseconds = (count: number) => sql`${count}::float8 * interval '1 millisecond'`;

type Queries = WatchdogDb | Trx<Tables>;

/** Queues what happened for every webhook that wants it, each once. Answers how many were queued. */
export async function enqueue(db: Queries, happened: Happened): Promise<number> {
  const { id, type, server = null, at, data } = happened;
  const { rows } = await sql<{ webhook_id: string }>`
    insert into webhook_deliveries (id, webhook_id, event_id, type, server_name, lane, data, at)
    select ${newDeliveryId}, w.id, ${id}, ${type}, ${server}::text, ${laneOf(happened)}, ${JSON.stringify(data)}::jsonb, ${at}
    from webhooks w where w.enabled and ${type} = any(w.events) and w.created_at <= ${at}
      and (w.server_name is null or w.server_name = ${server}::text)
      and (${!isAlert(type)} or coalesce(w.alerts_until < ${at}, true))
    on conflict (webhook_id, event_id) do nothing returning webhook_id`.execute(db);
  for (const { webhook_id } of rows) await dropOldest(db, webhook_id);
  return rows.length;
}

const newDeliveryId = sql`'dlv_' || replace(gen_random_uuid()::text, '-', '')`;

async function dropOldest(db: Queries, webhookId: string): Promise<void> {
  await sql`update webhook_deliveries set state = 'dropped', finished_at = now(), failure = 'too_many_waiting',
      error = ${`${mostWaiting} newer ones were waiting`}
    where state = 'waiting' and (lease_until is null or lease_until < now()) and id in (
      select id from webhook_deliveries where webhook_id = ${webhookId} and state = 'waiting'
      order by number desc offset ${mostWaiting})`.execute(db);
}

/** Queues what the history of alerts tells; what was queued or passed by before is not queued again. */
export async function enqueueAlerts(db: WatchdogDb, happened: readonly Happened[]): Promise<number> {
  if (happened.length === 0) return 0;
  const newest = new Date(Math.max(...happened.map(({ at }) => at.getTime())));
  return db.transaction().execute(async (trx) => {
    let queued = 0;
    // Before their deliveries, as everybody does.
    await sql`select from webhooks where server_name is null order by id for no key update`.execute(trx);
    for (const one of happened) queued += await enqueue(trx, one);
    await sql`update webhooks set alerts_until = ${newest}
      where server_name is null and coalesce(alerts_until < ${newest}, true)`.execute(trx);
    return queued;
  });
}

/** Queues a test, which waits for nothing. */
export async function enqueuePing(db: Queries, webhookId: string): Promise<DeliveryRow> {
  const event = `evt_${randomUUID().replaceAll("-", "")}`;
  const { rows } = await sql<DeliveryRow>`
    insert into webhook_deliveries (id, webhook_id, event_id, type, lane, data, at)
    values (${newDeliveryId}, ${webhookId}, ${event}, 'ping', ${event}, '{}', now()) returning *`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("the test was not queued");
  return row;
}

/**
 * The first of each lane that waits, from lane to lane through the index: what waits behind them is not read, so that the
 * backlog of a slow receiver costs the others nothing.
 */
const withHeads = sql`with recursive heads as (
  (select id, webhook_id, lane, number, due_at, lease_until from webhook_deliveries
    where state = 'waiting' order by webhook_id, lane, number limit 1)
  union all
  select next.* from heads cross join lateral (
    select d.id, d.webhook_id, d.lane, d.number, d.due_at, d.lease_until from webhook_deliveries d
    where d.state = 'waiting' and (d.webhook_id, d.lane) > (heads.webhook_id, heads.lane)
    order by d.webhook_id, d.lane, d.number limit 1) next)`;

/** A delivery with what its webhook needs. */
export type Picked = {
  delivery: DeliveryRow & { lease: string };
  webhook: WebhookRow;
  /** Since when nothing has arrived; 0 when the attempt before did. */
  failingForMs: number;
};

/** The next delivery that may be sent, leased; undefined when there is none. */
export async function pick(db: WatchdogDb, { fullHosts, fullOwners }: Room): Promise<Picked | undefined> {
  const lease = randomUUID();
  const { rows } = await sql<DeliveryRow>`${withHeads}
    update webhook_deliveries set lease = ${lease}, lease_until = now() + ${milliseconds(leaseMs)},
      attempts = attempts + 1, attempted_at = now()
    where id = (
      select d.id from heads h join webhooks w on w.id = h.webhook_id join webhook_deliveries d on d.id = h.id
      where h.due_at <= now() and (h.lease_until is null or h.lease_until < now())
        and d.state = 'waiting' and d.due_at <= now() and (d.lease_until is null or d.lease_until < now())
        and w.enabled and w.host <> all(${fullHosts}::text[])
        and coalesce(w.owner_id, '') <> all(${fullOwners}::text[])
      order by d.due_at, d.number limit 1 for update of d skip locked)
    returning *`.execute(db);
  const [delivery] = rows;
  if (!delivery) return undefined;
  const webhook = await db
    .selectFrom("webhooks")
    .selectAll()
    .select(
      sql<number>`coalesce(extract(epoch from now() - failing_since) * 1000, 0)::float8`.as("failing_ms"),
    )
    .where("id", "=", delivery.webhook_id)
    .executeTakeFirst();
  // Deleted since: its deliveries are gone with it.
  if (!webhook) return undefined;
  const { failing_ms: failingForMs, ...row } = webhook;
  return { delivery: { ...delivery, lease }, webhook: row, failingForMs };
}

export type Attempted = { outcome: Outcome; response: string; durationMs: number };

/** Writes how an attempt went, unless its lease has ended and another one was begun. */
export async function record(
  db: WatchdogDb,
  { delivery, webhook }: Picked,
  { outcome, response, durationMs, next }: Attempted & { next: Next },
): Promise<void> {
  const isOver = next.state !== "waiting";
  const status = outcome.kind === "answered" ? outcome.status : null;
  const hasArrived = next.state === "delivered";
  await db.transaction().execute(async (trx) => {
    // Before its delivery, as whoever deletes it does: the other way round each would wait for the other.
    await sql`select from webhooks where id = ${webhook.id} for no key update`.execute(trx);
    const written = await trx
      .updateTable("webhook_deliveries")
      .set({
        ...{ state: next.state, lease: null, lease_until: null, status, duration_ms: durationMs },
        ...(hasArrived ? { error: null, failure: null } : failureIn(outcome)),
        response: response === "" ? null : response,
        finished_at: isOver ? sql<Date>`now()` : null,
        ...(next.state === "waiting" && {
          due_at: sql<Date>`now() + ${milliseconds(spread(next.pauseMs, delivery.id))}`,
        }),
      })
      .where("id", "=", delivery.id)
      .where("lease", "=", delivery.lease)
      .executeTakeFirst();
    if (written.numUpdatedRows === 0n) return;
    const off = next.state === "delivered" ? undefined : next.turnsOff;
    await trx
      .updateTable("webhooks")
      .set({
        ...{ last_attempt_at: sql<Date>`now()`, last_attempt_ok: hasArrived, last_attempt_status: status },
        failing_since: hasArrived ? null : sql<Date>`coalesce(failing_since, now())`,
        ...(off && { enabled: false, off_reason: off, ...noticeDue }),
      })
      .where("id", "=", webhook.id)
      .execute();
  });
}

function failureIn(outcome: Outcome): Failure {
  if (outcome.kind === "failed") return { failure: outcome.failure, error: outcome.error };
  const { status } = outcome;
  const said = `it answered ${status}`;
  return status >= 300 && status < 400
    ? { failure: "redirect", error: `${said}; redirects are not followed` }
    : { failure: "status", error: said };
}

/** The owner of a server is told; staff see it in the list. */
export const noticeDue = {
  notice_due_at: sql<Date | null>`case when server_name is not null and enabled then now() end`,
  notice_attempts: 0,
};

/** Takes an attempt back that was not made. */
export async function postpone(
  db: WatchdogDb,
  { id, lease }: Picked["delivery"],
  pauseMs: number,
): Promise<void> {
  await sql`update webhook_deliveries set lease = null, lease_until = null, attempts = attempts - 1,
      due_at = now() + ${milliseconds(pauseMs)}
    where id = ${id} and lease = ${lease}`.execute(db);
}

/** Ends a delivery whose event was taken off its webhook since, without an attempt. */
export async function drop(db: WatchdogDb, { id, lease }: Picked["delivery"]): Promise<void> {
  await sql`update webhook_deliveries set state = 'dropped', finished_at = now(), lease = null, lease_until = null,
      attempts = attempts - 1, failure = 'event_removed', error = 'this event was taken off the webhook'
    where id = ${id} and lease = ${lease}`.execute(db);
}

/** Milliseconds until something may be due, at most `mostMs`. */
export async function untilDue(db: WatchdogDb, mostMs: number): Promise<number> {
  const { rows } = await sql<{ ms: number | null }>`${withHeads}
    select extract(epoch from min(greatest(h.due_at, coalesce(h.lease_until, h.due_at))) - now()) * 1000 as ms
    from heads h join webhooks w on w.id = h.webhook_id where w.enabled`.execute(db);
  const ms = rows[0]?.ms;
  // What is due and was not picked waits for a place, which rings when it is free.
  return ms === null || ms === undefined ? mostMs : Math.min(mostMs, Math.max(250, Number(ms)));
}

const keptMs = 7 * 86_400_000;
const mostKept = 200;

/** Deletes what is no longer kept: after seven days, and of what has ended all but the newest 200 of a webhook. */
export async function sweep(db: WatchdogDb): Promise<void> {
  await sql`delete from webhook_deliveries where created_at < now() - ${milliseconds(keptMs)}`.execute(db);
  await sql`delete from webhook_deliveries where id in (
    select id from (
      select id, row_number() over (partition by webhook_id order by number desc) as place
      from webhook_deliveries where state <> 'waiting') ended
    where place > ${mostKept})`.execute(db);
}
