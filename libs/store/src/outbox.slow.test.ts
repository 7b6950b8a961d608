import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { event } from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import { sql } from "kysely";
import { z } from "zod";
import { measureStore } from "./metrics.ts";
import { readMigrations } from "./migrations.ts";
import { outboxRow, type PublishOutbox, startOutboxRelay } from "./outbox.ts";
import type { Store } from "./store.ts";
import { createTestDatabase, createWire, type TestDatabase } from "./testing.ts";

const happened = event({
  subject: "identity.thing.happened",
  data: z.object({ n: z.number() }),
  key: ({ n }) => String(n),
  sample: { n: 1 },
  summary: "Something happened.",
});
const log = createLogger("identity", "warn");

describe("the outbox relay", () => {
  let database: TestDatabase;
  let store: Store<object>;
  before(async () => {
    database = await createTestDatabase({ schema: "identity", migrations: readMigrations(undefined) });
    store = database.open<object>();
  });
  after(async () => {
    await store.close();
    await database.drop();
  });
  const add = (...numbers: number[]) =>
    store.db.transaction().execute(async (trx) => {
      for (const n of numbers) await trx.insertInto("outbox").values(outboxRow(happened, { n })).execute();
    });
  const left = async () => {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from outbox`.execute(store.db);
    return rows[0]?.n ?? 0;
  };
  const recorder = () => {
    const seen: string[] = [];
    const ids: string[] = [];
    const publish: PublishOutbox = async (messages) => {
      for (const { id, subject, body } of messages) {
        seen.push(`${subject} ${Buffer.from(body).toString()}`);
        ids.push(id);
      }
    };
    return { seen, ids, publish };
  };
  // A relay that a failed test left open would hold the lock of the next, and the file would never end.
  const open: { close: () => Promise<void> }[] = [];
  afterEach(async () => {
    for (const running of open.splice(0)) await running.close();
  });
  const relay = (publish: PublishOutbox, url = database.url, limits: { hungAfterMs?: number } = {}) => {
    const running = startOutboxRelay({ url, schema: "identity", publish, log, ...limits });
    open.push(running);
    return running;
  };
  test("metrics show the pool, and rows that cannot be published until they are", async () => {
    const registry = createRegistry("identity", "test");
    const { onBacklog } = measureStore(registry, store);
    const shown = async (line: string) => (await registry.metrics()).split("\n").includes(line);
    let isAway = true;
    const publish: PublishOutbox = async () => {
      if (isAway) throw new Error("NATS is away");
    };
    open.push(startOutboxRelay({ url: database.url, schema: "identity", publish, log, onBacklog }));
    await add(1, 2);
    await until(() => shown("svc_outbox_waiting 2"), 20_000);
    isAway = false;
    await until(() => shown("svc_outbox_waiting 0"), 20_000);
    assert.equal(await left(), 0);
    await store.db.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx);
      assert.ok(await shown('svc_database_connections{state="busy"} 1'));
    });
    assert.ok(await shown('svc_database_connections{state="busy"} 0'));
    assert.ok(await shown("svc_database_waiting 0"));
  });
  const numbersOf = (seen: readonly string[]) =>
    seen.map((line) => Number(line.split(".").at(-1)?.split(" ")[0]));

  test("publishes committed rows in order, soon, and deletes them", async () => {
    const { seen, ids, publish } = recorder();
    const running = relay(publish);
    await add(0);
    await until(() => seen.length === 1);
    const startedAt = performance.now();
    await add(1, 2, 3);
    await until(() => seen.length === 4);
    // The sweep comes every 5 s: only the notification can be this quick.
    assert.ok(performance.now() - startedAt < 2_000);
    assert.equal(seen[1], 'svc.evt.identity.thing.happened.1 {"n":1}');
    assert.deepEqual(numbersOf(seen), [0, 1, 2, 3]);
    assert.equal(new Set(ids).size, 4);
    assert.match(ids[0] ?? "", /^identity-\d+$/);
    await until(async () => (await left()) === 0);
    await running.close();
  });

  test("publishes nothing of a transaction that was undone", async () => {
    const { seen, publish } = recorder();
    const running = relay(publish);
    const undone = store.db.transaction().execute(async (trx) => {
      await trx
        .insertInto("outbox")
        .values(outboxRow(happened, { n: 1 }))
        .execute();
      throw new Error("undone");
    });
    await assert.rejects(undone);
    await add(2);
    await until(() => seen.length > 0);
    await running.close();
    assert.deepEqual(numbersOf(seen), [2]);
  });

  test("publishes what was written before it started, in more than one batch", async () => {
    await add(...Array.from({ length: 1_200 }, (_, index) => index));
    const { seen, publish } = recorder();
    const running = relay(publish);
    await until(() => seen.length === 1_200);
    await running.close();
    assert.deepEqual(
      numbersOf(seen),
      Array.from({ length: 1_200 }, (_, index) => index),
    );
  });

  test("keeps rows that could not be published, with the same ids, and tries again", async () => {
    const tries: string[][] = [];
    const running = relay(async (messages) => {
      tries.push(messages.map(({ id }) => id));
      if (tries.length === 1) throw new Error("NATS is away");
    });
    await add(1, 2);
    await until(() => tries.length === 2);
    await running.close();
    assert.deepEqual(tries[1], tries[0]);
  });

  test("goes on when its connection is ended by the server", async () => {
    const { seen, publish } = recorder();
    const running = relay(publish);
    await add(1);
    await until(() => seen.length === 1);
    await database.admin(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc-identity-outbox'",
    );
    await add(2);
    await until(() => seen.length === 2);
    await running.close();
  });

  test("goes on when the database comes back", async () => {
    const wire = await createWire(database.url);
    const { seen, publish } = recorder();
    const running = relay(publish, wire.url);
    await add(1);
    await until(() => seen.length === 1);
    await wire.cut();
    await add(2);
    await wire.recover();
    // A row whose deletion was cut off comes once more.
    await until(() => numbersOf(seen).at(-1) === 2);
    await running.close();
    await wire.cut();
  });

  test("of two relays one works, and the other takes over at once when it ends", async () => {
    const [one, two] = [recorder(), recorder()];
    const first = relay(one.publish);
    await add(1);
    await until(() => one.seen.length === 1);
    const second = relay(two.publish);
    await until(async () => {
      const rows = await database.admin(
        "select 1 from pg_stat_activity where application_name = 'svc-identity-outbox'",
      );
      return rows.length === 2;
    });
    await add(2, 3);
    await until(() => one.seen.length === 3);
    assert.deepEqual(two.seen, []);
    await first.close();
    await add(4);
    await until(() => two.seen.length === 1);
    await second.close();
    assert.deepEqual([numbersOf(one.seen), numbersOf(two.seen)], [[1, 2, 3], [4]]);
  });

  test("a relay that hangs loses the lock, and the other takes over", async () => {
    const wire = await createWire(database.url);
    const [one, two] = [recorder(), recorder()];
    const hungAfterMs = 6_000;
    const hanging = relay(one.publish, wire.url, { hungAfterMs });
    await add(1);
    await until(() => one.seen.length === 1);
    const standby = relay(two.publish, database.url, { hungAfterMs });
    const resume = wire.pause();
    await add(2);
    await until(() => numbersOf(two.seen).at(-1) === 2, 20_000);
    assert.deepEqual(numbersOf(one.seen), [1]);
    resume();
    await hanging.close();
    await standby.close();
    await wire.cut();
  });

  test("closes while the database is away", async () => {
    const wire = await createWire(database.url);
    await wire.cut();
    const running = relay(recorder().publish, wire.url);
    await running.close();
  });
});
