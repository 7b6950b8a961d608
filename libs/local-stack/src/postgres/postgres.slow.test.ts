import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import pg from "pg";
import { findProcess, isAlive } from "../process/identity.ts";
import { scratchDir } from "../testing/scratch.ts";
import { startPostgres } from "./postgres.ts";

const password = "a b/c?d@e";
const isRoot = process.getuid?.() === 0;

async function query<R extends pg.QueryResultRow>(url: string, text: string): Promise<R[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}

test("rows survive a kill -9 and a restart on the same folder", async () => {
  using scratch = scratchDir();
  const dataDir = join(scratch.path, "postgres");
  let created = 0;
  const start = () => startPostgres({ dataDir, password, onCreate: () => (created += 1) });
  const first = await start();
  await query(first.url, "create table note (text text); insert into note values ('kept')");
  process.kill(first.pid, "SIGKILL");
  await first.stop();
  assert.ok(existsSync(join(dataDir, "postmaster.pid")));
  const second = await start();
  assert.deepEqual(await query(second.url, "select text from note"), [{ text: "kept" }]);
  await second.stop();
  assert.equal(created, 1);
});

test("the server listens on loopback only, asks for the password and keeps its files private", async () => {
  using scratch = scratchDir();
  const dataDir = join(scratch.path, "postgres");
  const server = await startPostgres({ dataDir, password, isDurable: false });
  const settings = await query<{ name: string; setting: string }>(
    server.url,
    `select name, setting from pg_settings where name in
     ('listen_addresses', 'unix_socket_directories', 'shared_buffers', 'max_connections', 'wal_level', 'fsync', 'TimeZone')
     order by lower(name)`,
  );
  assert.deepEqual(Object.fromEntries(settings.map((row) => [row.name, row.setting])), {
    fsync: "off",
    listen_addresses: "127.0.0.1",
    max_connections: "100",
    shared_buffers: "4096",
    TimeZone: "UTC",
    unix_socket_directories: "",
    wal_level: "replica",
  });
  const wrong = new URL(server.url);
  wrong.password = "wrong";
  await assert.rejects(query(wrong.href, "select 1"), /password authentication failed/);
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  await server.stop();
  assert.ok(!existsSync(`${dataDir}.password`));
});

test("a server that an earlier run left behind is ended before the next one starts", async () => {
  using scratch = scratchDir();
  const dataDir = join(scratch.path, "postgres");
  const first = await startPostgres({ dataDir, password, isDurable: false });
  const ref = findProcess(first.pid);
  assert.ok(ref);
  const second = await startPostgres({ dataDir, password, isDurable: false });
  assert.ok(!isAlive(ref));
  assert.deepEqual(await query(second.url, "select 1 as one"), [{ one: 1 }]);
  await second.stop();
});

test("a stale lock file whose pid now belongs to a stranger does not stop the start", async () => {
  using scratch = scratchDir();
  const dataDir = join(scratch.path, "postgres");
  const first = await startPostgres({ dataDir, password, isDurable: false });
  await first.stop();
  const stranger = spawn("sleep", ["60"], { stdio: "ignore" });
  writeFileSync(
    join(dataDir, "postmaster.pid"),
    `${stranger.pid}\n${dataDir}\n0\n5432\n\n127.0.0.1\n\nready   \n`,
  );
  const second = await startPostgres({ dataDir, password, isDurable: false });
  assert.equal(stranger.exitCode, null);
  await second.stop();
  stranger.kill("SIGKILL");
});

test("a data folder of another major version is refused in one sentence", async () => {
  using scratch = scratchDir();
  const dataDir = join(scratch.path, "postgres");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "PG_VERSION"), "15\n");
  await assert.rejects(startPostgres({ dataDir, password }), (error: Error) => {
    assert.match(error.message, /was made by PostgreSQL 15 and this is PostgreSQL 18; .*--data$/);
    return error.name === "StackError";
  });
});

test("a folder with foreign files is left alone", async () => {
  using scratch = scratchDir();
  const dataDir = join(scratch.path, "postgres");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "photo.png"), "x");
  await assert.rejects(startPostgres({ dataDir, password }), /holds files but no database/);
  assert.equal(readFileSync(join(dataDir, "photo.png"), "utf8"), "x");
});

test("where user namespaces are forbidden, root starts it as nobody", {
  skip: !isRoot && "needs root",
}, async () => {
  using scratch = scratchDir();
  const dataDir = join(scratch.path, "postgres");
  const server = await startPostgres({ dataDir, password, isDurable: false, accountMode: "nobody" });
  assert.match(readFileSync(`/proc/${server.pid}/status`, "utf8"), /^Uid:\s+65534/m);
  await server.stop();
  const closed = join(scratch.path, "closed");
  mkdirSync(closed);
  chmodSync(closed, 0o700);
  const inside = { dataDir: join(closed, "postgres"), password, accountMode: "nobody" as const };
  await assert.rejects(
    startPostgres(inside),
    /the account nobody may not enter .*closed; choose a data folder/,
  );
});
