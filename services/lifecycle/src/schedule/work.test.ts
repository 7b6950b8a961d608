// The cost of finding work depends on the work, not on the number of tasks.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createTestDatabase, type TestDatabase } from "@svc/store/testing";
import { sql } from "kysely";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import { createScheduleStore, workQuery } from "./store.ts";

const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));
const now = new Date("2026-03-02T05:00:00.000Z");
const atMost = 2_000;

let database: TestDatabase;
let store: LifecycleStore;
before(async () => {
  database = await createTestDatabase({ schema: "lifecycle", migrations });
  store = database.open<Tables>();
  await database.admin(
    "insert into lifecycle.servers (name) select 'srv-' || n from generate_series(1, 500) n",
  );
});
after(async () => {
  await store.close();
  await database.drop();
});

/** Fills the table with `count` enabled tasks due within 25 minutes; every other one has already warned. */
async function fill(count: number): Promise<void> {
  await database.admin("truncate lifecycle.server_schedules cascade");
  await database.admin(
    `insert into lifecycle.server_schedules
       (server_name, action, timezone, warn_minutes, next_run_at, warned_for, created_by, created_at, updated_at)
     select 'srv-' || (n % 500 + 1), 'restart', 'UTC', case n % 2 when 0 then 30 else 0 end, due.at, due.at, 'a', $1, $1
     from generate_series(1, $2::int) n,
       lateral (select $1::timestamptz + (n % 1500 + 1) * interval '1 second' as at) due`,
    [now, count],
  );
  await database.admin("vacuum analyze lifecycle.server_schedules");
}

async function pagesRead(): Promise<number> {
  const query = sql<{
    "QUERY PLAN": [{ Plan: Record<string, number> }];
  }>`explain (analyze, buffers, format json) ${workQuery(now, atMost)}`;
  const { rows } = await query.execute(store.db);
  const plan = rows[0]?.["QUERY PLAN"][0].Plan;
  return (plan?.["Shared Hit Blocks"] ?? 0) + (plan?.["Shared Read Blocks"] ?? 0);
}

test("an idle tick reads as many pages among 5,000 enabled tasks as among 10", async () => {
  await fill(10);
  const few = await pagesRead();
  await fill(5_000);
  const many = await pagesRead();
  assert.ok(few > 0 && many <= 2 * few, `${few} pages among 10, ${many} among 5,000`);
  assert.deepEqual(await createScheduleStore(store).findWork(now, atMost), []);
});

test("due, to-be-warned and running tasks are found among 5,000, and nothing else", async () => {
  await fill(5_000);
  const change = (id: number, set: string) =>
    database.admin(`update lifecycle.server_schedules set ${set} where id = $1`, [id]);
  const ids = (await database.admin("select id from lifecycle.server_schedules order by id limit 6")).map(
    ({ id }) => Number(id),
  );
  const [due = 0, warn = 0, early = 0, runs = 0, off = 0, warned = 0] = ids;
  await change(due, "next_run_at = '2026-03-02T05:00:00Z'");
  await change(warn, "next_run_at = '2026-03-02T05:10:00Z', warn_minutes = 10, warned_for = null");
  await change(early, "next_run_at = '2026-03-02T05:10:01Z', warn_minutes = 10, warned_for = null");
  await change(runs, "run_state = 'stopping', run_step_at = now(), enabled = false, next_run_at = null");
  await change(off, "enabled = false, next_run_at = '2026-03-02T04:00:00Z'");
  await change(
    warned,
    "next_run_at = '2026-03-02T05:05:00Z', warn_minutes = 10, warned_for = '2026-03-02T05:05:00Z'",
  );
  const found = await createScheduleStore(store).findWork(now, atMost);
  assert.deepEqual(
    found.map(({ row }) => row.id),
    [due, warn, runs],
  );
  await change(runs, "run_waits = true, run_step_at = '2026-03-02T05:00:00.001Z'");
  const waits = await createScheduleStore(store).findWork(now, atMost);
  assert.deepEqual(
    waits.map(({ row }) => row.id),
    [due, warn],
  );
  await change(runs, "run_step_at = '2026-03-02T05:00:00Z'");
  assert.equal((await createScheduleStore(store).findWork(now, atMost)).length, 3);
});
