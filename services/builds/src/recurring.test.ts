import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "@svc/mesh/testing";
import type { TestDatabase } from "@svc/store/testing";
import { createLogger } from "@svc/telemetry";
import { sql } from "kysely";
import type { BuildsDb, Tables } from "./database.ts";
import { startRecurring } from "./recurring.ts";
import { createBuildsDatabase } from "./testing/fixture.ts";

let database: TestDatabase;
let db: BuildsDb;
let close = async () => {};
before(async () => {
  database = await createBuildsDatabase();
  const store = database.open<Tables>();
  db = store.db;
  close = store.close;
});
after(async () => {
  await close();
  await database?.drop();
});

const log = createLogger("builds", "silent");
const replica = (name: string, work: () => Promise<void>, retryMs = 60_000) =>
  startRecurring({ db, log, name, everyMs: 50, retryMs, work });
const dueIn = async (name: string) => {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from due_at - now())::float8 as seconds from recurring_tasks where name = ${name}`.execute(
    db,
  );
  return rows[0]?.seconds ?? Number.NaN;
};

test("of several replicas one does the work, and the others wait until it is due again", async () => {
  let [running, most, runs] = [0, 0, 0];
  const work = async () => {
    running += 1;
    most = Math.max(most, running);
    await sql`select pg_sleep(0.02)`.execute(db);
    runs += 1;
    running -= 1;
  };
  const replicas = [replica("shared", work), replica("shared", work), replica("shared", work)];
  await until(() => runs >= 3);
  for (const one of replicas) await one.close();
  assert.equal(most, 1);
});

test("work that failed, or whose replica was killed, is due again after its retry", async () => {
  let runs = 0;
  const failing = async () => {
    runs += 1;
    throw new Error("the registry is down");
  };
  const one = replica("failing", failing);
  await until(() => runs === 1);
  await one.close();
  const seconds = await dueIn("failing");
  assert.ok(seconds > 10 && seconds <= 60, String(seconds));
  await db
    .updateTable("recurring_tasks")
    .set({ due_at: new Date(0) })
    .where("name", "=", "failing")
    .execute();
  const next = replica("failing", failing);
  await until(() => runs === 2);
  await next.close();
});

test("a restart does not put it off, and a shorter interval counts at once", async () => {
  const at = (everyMs: number) =>
    startRecurring({ db, log, name: "daily", everyMs, retryMs: 1_000, work: async () => {} });
  for (const [everyMs, most] of [
    [86_400_000, 86_400],
    [172_800_000, 86_400],
    [3_600_000, 3_600],
  ] as const) {
    const one = at(everyMs);
    await until(async () => (await dueIn("daily")) <= most);
    await one.close();
  }
});
