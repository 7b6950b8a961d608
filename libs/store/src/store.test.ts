import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { isFault } from "@svc/proto";
import { sql } from "kysely";
import { asFault, violates } from "./availability.ts";
import { readMigrations } from "./migrations.ts";
import type { Store } from "./store.ts";
import { createTestDatabase, createWire, type TestDatabase } from "./testing.ts";

type Tables = { things: { id: number; name: string } };
const things = "create table things (id bigint primary key, name text constraint things_name unique)";

describe("a store", () => {
  let database: TestDatabase;
  let store: Store<Tables>;
  before(async () => {
    const migrations = [...readMigrations(undefined), { version: 2, name: "things", sql: things }];
    database = await createTestDatabase({ schema: "storage", migrations });
    store = database.open<Tables>();
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  test("a text with U+0000, which PostgreSQL cannot hold, is the caller's mistake", async () => {
    const about = { id: 99, name: "a\u0000b" };
    const error: unknown = await store.db
      .insertInto("things")
      .values(about)
      .execute()
      .catch((cause: unknown) => cause);
    assert.ok(isFault(error) && error.fault === "bad_request", String(error));
    assert.match(error.message, /U\+0000/);
  });
  test("finds its tables in its own schema and reads bigint as numbers", async () => {
    await store.db.insertInto("things").values({ id: 9_007_199_254_740_991, name: "big" }).execute();
    const row = await store.db.selectFrom("things").selectAll().where("name", "=", "big").executeTakeFirst();
    assert.deepEqual(row, { id: 9_007_199_254_740_991, name: "big" });
  });

  test("prepares a statement once for each connection", async () => {
    const one = database.open<Tables>({ poolSize: 1 });
    for (const id of [1, 2, 3]) await one.db.selectFrom("things").selectAll().where("id", "=", id).execute();
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from pg_prepared_statements where statement like 'select * from "things"%'
    `.execute(one.db);
    assert.equal(rows[0]?.n, 1);
    await one.close();
  });

  test("limits statements to 15 s and idle transactions to 60 s", async () => {
    const { rows } = await sql<{ statement: string; idle: string }>`
      select current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle
    `.execute(store.db);
    assert.deepEqual(rows[0], { statement: "15s", idle: "1min" });
  });

  test("names the violated constraint", async () => {
    const insert = (id: number) => store.db.insertInto("things").values({ id, name: "same" }).execute();
    await insert(10);
    const error = await insert(11).catch((reason: unknown) => reason);
    assert.ok(violates(error, "things_name"));
    assert.ok(!violates(error, "things_pkey"));
    assert.ok(!isFault(error));
  });

  test("a statement that runs too long is unavailable", async () => {
    const slow = store.db.connection().execute(async (connection) => {
      await sql`set statement_timeout = 20`.execute(connection);
      await sql`select pg_sleep(5)`
        .execute(connection)
        .finally(() => sql`reset statement_timeout`.execute(connection));
    });
    await assert.rejects(slow, { fault: "unavailable" });
  });

  test("a connection that ends within a transaction fails that transaction and nothing else", async () => {
    const broken = store.db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
      await database.admin("select pg_terminate_backend($1)", [rows[0]?.pid]);
      await sql`select 1`.execute(trx);
    });
    await assert.rejects(broken, { fault: "unavailable" });
    await store.ping();
  });

  test("a database that is gone is unavailable, and is used again once it is back", async () => {
    const wire = await createWire(database.url);
    const far = database.open<Tables>({ url: wire.url });
    await far.ping();
    await wire.cut();
    await assert.rejects(far.ping(), { fault: "unavailable" });
    await assert.rejects(far.db.selectFrom("things").selectAll().execute(), { fault: "unavailable" });
    await assert.rejects(
      far.db.transaction().execute((trx) => trx.selectFrom("things").selectAll().execute()),
      { fault: "unavailable" },
    );
    await wire.recover();
    await far.ping();
    await far.close();
    await wire.cut();
  });

  const insertAs = (to: Store<Tables>, id: number) =>
    to.db
      .insertInto("things")
      .values({ id, name: `thing-${id}` })
      .execute();
  const backends = (to: Store<Tables>) =>
    sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(to.db).then(({ rows }) => rows[0]?.pid);

  test("a connection whose server became read-only is closed, and the next request has a new one", async () => {
    const far = database.open<Tables>({ poolSize: 1 });
    const first = await backends(far);
    // What a server reports that was told so, or became a standby, while the connection stays.
    await sql`set default_transaction_read_only = on`.execute(far.db);
    await insertAs(far, 50);
    assert.notEqual(await backends(far), first);
    await far.close();
  });

  test("a change that meets a read-only server fails as unavailable, and its connection is closed", async () => {
    const far = database.open<Tables>({ poolSize: 1 });
    const first = await backends(far);
    await assert.rejects(
      far.db.transaction().execute(async (trx) => {
        await sql`set transaction read only`.execute(trx);
        await trx.insertInto("things").values({ id: 51, name: "never" }).execute();
      }),
      { fault: "unavailable", message: /takes no changes/ },
    );
    assert.notEqual(await backends(far), first);
    await far.close();
  });

  test("a server that takes no changes is unavailable for reads and changes until it takes them again", async () => {
    const name = new URL(database.url).pathname.slice(1);
    const far = database.open<Tables>();
    await far.ping();
    await database.admin(`alter database ${name} set default_transaction_read_only = on`);
    try {
      // Sessions from before keep what they began with; a failover ends them.
      const own = await backends(far);
      await database.admin("select pg_terminate_backend($1)", [own]);
      await assert.rejects(insertAs(far, 52), { fault: "unavailable" });
      const refusal = { fault: "unavailable", message: /takes no changes/ };
      // Until its pool has noticed the end of the session, the database is unreachable.
      await until(
        () => assert.rejects(far.ping(), refusal).then(() => true),
        10_000,
        "a session that is read-only",
      );
    } finally {
      const change = `alter database ${name} reset default_transaction_read_only`;
      await database.admin(`begin read write; ${change}; commit`);
    }
    await insertAs(far, 52);
    await far.close();
  });

  test("a full pool is unavailable, not an endless wait", async () => {
    const small = database.open<Tables>({ poolSize: 1 });
    await small.db.transaction().execute(async () => {
      await assert.rejects(small.ping(), { fault: "unavailable" });
    });
    await small.close();
  });
});

const verdicts: [string, unknown, boolean][] = [
  ["a refused connection", { code: "ECONNREFUSED" }, true],
  ["too many connections", { code: "53300" }, true],
  ["a server that starts up", { code: "57P03" }, true],
  ["a canceled statement", { code: "57014" }, true],
  ["a broken connection", { message: "Connection terminated unexpectedly" }, true],
  ["a violated constraint", { code: "23505" }, false],
  ["a syntax error", { code: "42601" }, false],
  ["a deadlock", { code: "40P01" }, false],
];
for (const [name, about, isPassing] of verdicts) {
  test(`${name} is ${isPassing ? "unavailable" : "left as it is"}`, () => {
    const error = Object.assign(new Error("x"), about);
    const seen = asFault(error);
    assert.equal(isFault(seen) && seen.fault === "unavailable", isPassing);
    if (!isPassing) assert.equal(seen, error);
  });
}
