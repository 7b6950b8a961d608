import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { checkMigrations, type Migration, migrateUp, readMigrations, SchemaError } from "./migrations.ts";
import { createTestDatabase, type TestDatabase } from "./testing.ts";

const first: Migration = {
  version: 1,
  name: "one",
  sql: "create table one (id int); insert into one values (1)",
};
const second: Migration = { version: 2, name: "two", sql: "alter table one add column more text" };
const broken: Migration = { version: 3, name: "three", sql: "create table three (id int); select nonsense" };

test("migrations are the outbox and then those of the folder in the order of their numbers", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-migrations-"));
  writeFileSync(join(folder, "0003-b.sql"), "select 3");
  writeFileSync(join(folder, "0002-a.sql"), "select 2");
  writeFileSync(join(folder, "notes.md"), "");
  const [outbox, ...own] = readMigrations(folder);
  assert.deepEqual([outbox?.version, outbox?.name], [1, "outbox"]);
  assert.deepEqual(own, [
    { version: 2, name: "a", sql: "select 2" },
    { version: 3, name: "b", sql: "select 3" },
  ]);
  writeFileSync(join(folder, "0005-d.sql"), "select 5");
  assert.throws(() => readMigrations(folder), /0005-d\.sql: migrations are numbered without gaps/);
  rmSync(folder, { recursive: true });
});

test("an owner without migrations of its own has the outbox", () => {
  assert.deepEqual(
    readMigrations(undefined).map(({ name }) => name),
    ["outbox"],
  );
  assert.deepEqual(readMigrations("/nowhere"), readMigrations(undefined));
});

describe("migrations", () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase({ schema: "builds", migrations: [first] });
  });
  after(() => database.drop());
  const up = (...migrations: Migration[]) =>
    migrateUp(database.adminUrl, { schema: "builds", rolePassword: "test", migrations });
  const check = (...migrations: Migration[]) => checkMigrations(database.url, "builds", migrations);

  test("a schema with all migrations of this build is fine", async () => {
    await check(first);
  });

  test("an older database says to run svc migrate up", async () => {
    await assert.rejects(check(first, second), (error: Error) => {
      assert.equal(error.name, "SchemaError");
      return /older.*builds is at 1 of 2.*run svc migrate up/.test(error.message);
    });
  });

  test("an empty database is an older one", async () => {
    await assert.rejects(checkMigrations(database.url, "nothing_here", [first]), /run svc migrate up/);
  });

  test("a newer database is refused by the start and by migrate up", async () => {
    await assert.rejects(check(), /schema is newer: builds is at migration 1, this build knows 0/);
    await assert.rejects(up(), SchemaError);
  });

  test("only what is missing is applied, once, also when two apply at the same time", async () => {
    const applied = await Promise.all([up(first, second), up(first, second)]);
    assert.deepEqual(applied.flat(), ["two"]);
    assert.equal((await database.admin("select * from builds.one")).length, 1);
    assert.deepEqual(await up(first, second), []);
  });

  test("a migration that fails is undone whole and named", async () => {
    await assert.rejects(up(first, second, broken), /migration three failed and was undone/);
    await assert.rejects(database.admin("select * from builds.three"));
    await check(first, second);
  });

  test("the tables belong to the role of the service, which has nothing elsewhere", async () => {
    const [row] = await database.admin("select tableowner from pg_tables where tablename = 'one'");
    assert.equal(row?.["tableowner"], "svc_builds");
    const store = database.open();
    await assert.rejects(
      store.db.connection().execute(async (connection) => {
        await sql`create table public.mine (id int)`.execute(connection);
      }),
      /permission denied/,
    );
    await store.close();
  });
});
