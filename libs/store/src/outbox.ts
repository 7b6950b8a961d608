import { randomUUID } from "node:crypto";
import { AuditEntry, auditSubject, type EventContract, eventSubject, type ServiceName } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import pg from "pg";
import { createWake, type Wake } from "./wake.ts";

/** What the relay needs of the mesh: stored publishing with a dedup id. */
export type PublishOutbox = (
  messages: readonly { id: string; subject: string; body: Uint8Array }[],
) => Promise<void>;

/** The outbox row of an event; insert it in the transaction of the change it tells of and it is published after the commit. */
export function outboxRow<D>(contract: EventContract<D>, data: D): { subject: string; body: string } {
  return { subject: eventSubject(contract, data), body: JSON.stringify(data) };
}

/** An audit entry whose id and time may be left to `auditRow`. */
export type NewAuditEntry = Omit<AuditEntry, "id" | "at"> & { id?: string; at?: string };

/**
 * The outbox row of an audit entry, for a change that must not be committed without it. `id` and `at` are filled in when
 * they are missing; the id makes the entry count once, however often it is published.
 */
export function auditRow(service: ServiceName, entry: NewAuditEntry): { subject: string; body: string } {
  const full = AuditEntry.parse({ id: randomUUID(), at: new Date().toISOString(), ...entry });
  return { subject: auditSubject(service), body: JSON.stringify(full) };
}

const batchSize = 500;
const retryMs = 1_000;
/** Notifications tell of every row; this finds a connection that is gone and says to the server that the relay lives. */
const sweepMs = 10_000;
const answerWithinMs = 15_000;
const endWithinMs = 1_000;
/** Well above `sweepMs`: a relay that works is never so long without a statement. */
const hungAfterMs = 20_000;

/**
 * Publishes committed outbox rows in the order of their ids and deletes them. Of all replicas of a service one relays
 * at a time (a session advisory lock); the others stand by and take over when its connection ends. A row is published
 * at least once; the dedup id `<schema>-<row id>` makes it once within the stream's window. A relay that hangs, or whose
 * host is cut off, loses the lock after `hungAfterMs`: nothing else would take it from a connection that looks alive.
 */
export function startOutboxRelay(options: {
  url: string;
  schema: string;
  publish: PublishOutbox;
  log: Logger;
  /** Rows that were read and not published yet; 0 once all are, and while another replica relays. */
  onBacklog?: (rows: number) => void;
  /** After so long without a statement PostgreSQL ends a relay's session, and with it its lock (20 000). */
  hungAfterMs?: number;
}): { close: () => Promise<void> } {
  const stopping = new AbortController();
  const wake = createWake();
  const running = relayForever({ ...options, wake }, stopping.signal);
  return {
    close: async () => {
      stopping.abort();
      wake.ring();
      await running;
    },
  };
}

type RelayOptions = Parameters<typeof startOutboxRelay>[0] & { wake: Wake };

async function relayForever(options: RelayOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await relayOnce(options, signal);
    } catch (error) {
      if (!signal.aborted)
        options.log.warn({ error: (error as Error).message }, "outbox relay failed; retrying");
    }
    // A notification must not cut the pause short: it would hammer a database that is down.
    const until = Date.now() + retryMs;
    while (!signal.aborted && Date.now() < until) await options.wake.next(until - Date.now());
  }
}

// Holds one connection for the lock, the notifications and the rows; ends when that connection does.
async function relayOnce(options: RelayOptions, signal: AbortSignal): Promise<void> {
  const { wake, schema } = options;
  const client = new pg.Client({
    connectionString: options.url,
    connectionTimeoutMillis: 3_000,
    // A peer that is gone without a word is noticed by the next sweep.
    query_timeout: answerWithinMs,
    keepAlive: true,
    application_name: `svc-${schema}-outbox`,
    options: `-c search_path=${schema} -c idle_session_timeout=${options.hungAfterMs ?? hungAfterMs}`,
  });
  let isOpen = true;
  const onEnd = () => {
    isOpen = false;
    wake.ring();
  };
  client.on("notification", wake.ring);
  client.on("end", onEnd);
  client.on("error", onEnd);
  const mayGoOn = () => isOpen && !signal.aborted;
  try {
    await client.connect();
    await client.query(`listen ${pg.escapeIdentifier(`outbox_${schema}`)}`);
    while (mayGoOn() && !(await takeLock(client, schema))) {
      options.onBacklog?.(0);
      await wake.next(retryMs);
    }
    while (mayGoOn()) {
      const moved = await drainBatch(client, options);
      if (moved < batchSize) await wake.next(sweepMs);
    }
  } finally {
    await endWithin(client);
  }
}

async function takeLock(client: pg.Client, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(
    "select pg_try_advisory_lock(hashtext($1)) as held",
    [`outbox_${schema}`],
  );
  return rows[0]?.held ?? false;
}

// A dead peer never says goodbye, so the end is not waited for without a limit.
async function endWithin(client: pg.Client): Promise<void> {
  const limit = createWake();
  void client.end().then(limit.ring, limit.ring);
  await limit.next(endWithinMs);
}

async function drainBatch(client: pg.Client, options: RelayOptions): Promise<number> {
  const { rows } = await client.query<{ id: number; subject: string; body: string }>({
    name: "outbox-next",
    text: "select id, subject, body from outbox order by id limit $1",
    values: [batchSize],
  });
  options.onBacklog?.(rows.length);
  if (rows.length === 0) return 0;
  await options.publish(
    rows.map((row) => ({
      id: `${options.schema}-${row.id}`,
      subject: row.subject,
      body: Buffer.from(row.body),
    })),
  );
  await client.query({
    name: "outbox-done",
    text: "delete from outbox where id = any($1::bigint[])",
    values: [rows.map((row) => row.id)],
  });
  options.onBacklog?.(0);
  return rows.length;
}
