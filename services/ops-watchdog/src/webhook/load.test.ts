// What the next delivery costs among many (docs/reference/webhooks.md#attempts), counted in rows that are read.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { TestDatabase } from "@svc/store/testing";
import { sql } from "kysely";
import type { Tables, WatchdogDb } from "../database.ts";
import { createWatchdogDatabase } from "../testing/fixture.ts";
import { pick, untilDue } from "./queue.ts";

const webhooks = 1_000;
const backlog = 1_000;
const slow = "slow.example.net";

let database: TestDatabase;
let store: ReturnType<TestDatabase["open"]> & { db: WatchdogDb };
before(async () => {
  database = await createWatchdogDatabase();
  store = database.open<Tables>();
  // Five of every server; those of the first have a receiver that answers nothing.
  await database.admin(
    `insert into ops_watchdog.webhooks (id, label, format, url, host, language, events, saved_by, saved_by_name,
       server_name, owner_id)
     select 'whk-' || n, 'x', 'slack', 'https://x', case when n < 5 then $1 else 'host-' || n end, 'en', '{}', 'u', 'u',
       's' || n / 5, 'owner-' || n / 5
     from generate_series(0, $2::int - 1) n`,
    [slow, webhooks],
  );
  await insert(0, 5, backlog);
});
after(async () => {
  await store?.close();
  await database?.drop();
});

const insert = async (from: number, until: number, each: number) => {
  await database.admin(
    `insert into ops_watchdog.webhook_deliveries (id, webhook_id, event_id, type, server_name, lane, data, at)
     select 'dlv_' || n || '_' || k, 'whk-' || n, 'evt_' || k, 'server.ready', 's' || n / 5, 's' || n / 5, '{}', now()
     from generate_series($1::int, $2::int - 1) n, generate_series(1, $3::int) k`,
    [from, until, each],
  );
  await database.admin("analyze ops_watchdog.webhooks, ops_watchdog.webhook_deliveries");
};

/** Rows that `work` reads, in all tables. */
async function rowsRead(work: (db: WatchdogDb) => Promise<unknown>): Promise<number> {
  return store.db.transaction().execute(async (trx) => {
    const read = async () => {
      const { rows } = await sql<{ read: number }>`
        select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables
        where schemaname = 'ops_watchdog'`.execute(trx);
      return rows[0]?.read ?? 0;
    };
    const start = await read();
    await work(trx as unknown as WatchdogDb);
    return (await read()) - start;
  });
}

test("a backlog of a receiver that is full costs the others nothing", async () => {
  const [busy, each] = [20, 3];
  await insert(5, 5 + busy, each);
  const room = { free: busy, fullHosts: [slow], fullOwners: [] };
  // Each webhook, and the first delivery of each lane with its successor; never what waits behind.
  const most = webhooks + 5 * (busy + 5);
  const picked: string[] = [];
  for (let at = 0; at < busy; at += 1) {
    const read = await rowsRead(async (db) => {
      const { delivery, webhook } = (await pick(db, room)) ?? assert.fail("nothing was picked");
      assert.match(webhook.host, /^host-/);
      picked.push(delivery.id);
    });
    assert.ok(read < most, `a pick read ${read} rows`);
  }
  // The oldest of every webhook, each once; what comes next waits for it.
  assert.deepEqual(picked.toSorted(), Array.from({ length: busy }, (_, at) => `dlv_${at + 5}_1`).sort());
  assert.equal(await pick(store.db, room), undefined);
  const read = await rowsRead((db) => untilDue(db, 5_000));
  assert.ok(read < most, `looking for the next time read ${read} rows`);
});
