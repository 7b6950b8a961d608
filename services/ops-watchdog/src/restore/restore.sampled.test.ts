// Restores with every schema of the product, on a PostgreSQL of this file alone: roles belong to a whole server.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { testProgram } from "@svc/config/test-program";
import { sampleOf } from "@svc/config/testing";
import { startPostgres } from "@svc/local-stack";
import { startTestNats, type TestNats } from "@svc/mesh/testing";
import { auditStream } from "@svc/proto";
import { migrateUp } from "@svc/store";
import pg from "pg";
import { ownedSchemas } from "./schemas.ts";

const program = testProgram(resolve(import.meta.dirname, "../testing/host-main.ts"));
const schemas = ownedSchemas();
const dir = mkdtempSync(join(tmpdir(), "svc-restore-"));
const bundles = join(dir, "bundles");
const passwords = Object.fromEntries(schemas.map(({ service }) => [service, `password-of-${service}`]));
const sets = (name: string) => `sessions-${name}`.padEnd(64, "0").replaceAll(/[^0-9a-f]/g, "a");
let server: Awaited<ReturnType<typeof startPostgres>>;
let nats: TestNats;
let bundle: string;

before(async () => {
  [server, nats] = await Promise.all([
    startPostgres({ dataDir: join(dir, "postgres"), password: "test", isDurable: false }),
    startTestNats(),
  ]);
  writeFileSync(join(dir, "roles.json"), JSON.stringify(passwords));
  await migrateAll();
  await query("grant pg_read_all_data to svc_ops_watchdog");
  await query("alter role svc_ops_watchdog createdb");
  await fill("amelia");
  bundle = (await run<{ name: string }>({ do: "back-up", label: "manual" })).name;
});
after(async () => {
  await nats?.stop();
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function migrateAll(url = server.url, known = schemas): Promise<void> {
  for (const { service, name, migrations } of known)
    await migrateUp(url, { schema: name, rolePassword: passwords[service] ?? "", migrations });
}

async function query(
  sql: string,
  values: unknown[] = [],
  url = server.url,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}

/** A new database of the server. */
async function createDatabase(name: string): Promise<string> {
  await query(`create database ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}

async function fill(name: string): Promise<void> {
  await query(
    `insert into identity.users (id, username, role, created_at, updated_at) values ($1, $1, 'owner', now(), now())`,
    [name],
  );
  await query(
    `insert into identity.sessions (token_hash, user_id, door, created_at, expires_at, last_seen_at)
     values ($1, $2, 'passkey', now(), now() + interval '1 day', now())`,
    [sets(name), name],
  );
  await query(
    `insert into lifecycle.servers (name, owner_id, members) values ($1, $2, '[{"id":"mem-1","user_id":"helper"}]')`,
    [`of-${name}`, name],
  );
  await query(
    `insert into lifecycle.access_invitations
       (id, server_name, owner_id, kind, secret_hash, offered, invited_by, inviter_name, expires_at)
     values ($1, $2, $3, 'link', $1, '{"rights":["see"]}', $3, $3, now() + interval '1 day')`,
    [`inv-${name}`, `of-${name}`, name],
  );
  await query("insert into identity.outbox (subject, body) values ('svc.audit.identity', '{}')");
}

function variables(url: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    SVC_ADMIN_DATABASE_URL: url,
    SVC_ROLE_PASSWORDS_FILE: join(dir, "roles.json"),
    SVC_NATS_URL: nats.url,
    SVC_NATS_USER: "migrate",
    SVC_NATS_PASSWORD: nats.passwords["migrate"],
    SVC_SET: `ops_watchdog.bundle_dir=${bundles}`,
    ...more,
  };
}

type Ended = { code: number | null; signal: NodeJS.Signals | null; out: string; error: string };

async function start(command: object, env: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(JSON.stringify(command));
  const ended = new Promise<Pick<Ended, "code" | "signal">>((done) =>
    child.once("close", (code, signal) => done({ code, signal })),
  );
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { ...(await ended), out, error };
}

async function run<T>(command: object, url = server.url): Promise<T> {
  const { code, out, error } = await start(command, variables(url));
  assert.equal(code, 0, error);
  return JSON.parse(out) as T;
}

const restore = (options: object = {}) => ({ do: "restore", bundle, force: true, safety: true, ...options });

/** Names of accounts and servers, whether sessions and shares are there, and whether services may sign in. */
async function state(url = server.url) {
  const [users, servers, sessions, shared, roles, open] = await Promise.all([
    query("select username as name from identity.users order by 1", [], url),
    query("select name from lifecycle.servers order by 1", [], url),
    query("select count(*)::int as count from identity.sessions", [], url),
    query(
      `select count(*)::int as count from lifecycle.servers left join lifecycle.access_invitations on server_name = name
       where members <> '[]' or (id is not null and ended_at is null)`,
      [],
      url,
    ),
    query("select bool_and(rolcanlogin) as open from pg_roles where rolname = any($1)", [
      schemas.map(({ name }) => `svc_${name}`),
    ]),
    query("select count(*)::int as count from ops_watchdog.restores where finished_at is null", [], url),
  ]);
  return {
    users: users.map((row) => row["name"]),
    servers: servers.map((row) => row["name"]),
    sessions: sessions[0]?.["count"],
    shared: shared[0]?.["count"],
    isOpen: roles[0]?.["open"],
    unfinished: open[0]?.["count"],
  };
}

const ended = { sessions: 0, shared: 0 };
const restored = { users: ["amelia"], servers: ["of-amelia"], ...ended, isOpen: true, unfinished: 0 };

/** A second account that the bundle does not have, and a message in a stream. */
async function moveOn(): Promise<void> {
  await query("delete from lifecycle.servers");
  await query("delete from identity.users");
  await fill("amelia");
  await fill("bruno");
  const mesh = await nats.connect("identity");
  await mesh.publish([
    { id: `test-${Math.random()}`, subject: "svc.audit.identity", body: Buffer.from("{}") },
  ]);
  await mesh.drain(500);
}

describe("a restore over a living database", () => {
  test("brings back what the bundle has, ends sessions, empties streams and takes a bundle first", async () => {
    await moveOn();
    const [before] = await query("select last_value::text as last from identity.outbox_id_seq");
    const done = await run<{ rows: number; safetyBundle: string }>(restore());
    assert.deepEqual(await state(), restored);
    assert.match(done.safetyBundle, /-pre-restore\.tar$/);
    assert.ok(readdirSync(bundles).includes(done.safetyBundle));
    const [row] = await query("select last_value::text as last from identity.outbox_id_seq");
    assert.ok(Number(row?.["last"]) >= Number(before?.["last"]) + 1_000_000);
    const waiting = await query("select subject from identity.outbox");
    assert.deepEqual(waiting, [{ subject: "svc.audit.identity" }]);
    assert.deepEqual(await nats.migrate(), []);
    assert.equal(await storedMessages(auditStream.name), 0);
    const url = new URL(server.url);
    url.username = "svc_identity";
    url.password = passwords["identity"] ?? "";
    assert.equal((await query("select id from identity.users", [], url.href)).length, 1);
    await assert.rejects(query("select name from lifecycle.servers", [], url.href), /permission denied/);
  });

  test("the bundle that was taken first brings back what was replaced", async () => {
    await moveOn();
    const { safetyBundle } = await run<{ safetyBundle: string }>(restore());
    await run(restore({ bundle: safetyBundle }));
    assert.deepEqual((await state()).users, ["amelia", "bruno"]);
  });

  test("another client stops it before anything happens, unless it is forced", async () => {
    await moveOn();
    const client = new pg.Client({ connectionString: server.url, application_name: "psql" });
    client.on("error", () => undefined);
    await client.connect();
    const { code, error } = await start(restore({ force: false }), variables(server.url));
    assert.deepEqual([code, /postgres with psql.*--force/.test(error)], [1, true]);
    assert.deepEqual((await state()).users, ["amelia", "bruno"]);
    await run(restore());
    await client.end().catch(() => undefined);
    assert.deepEqual(await state(), restored);
  });

  test("a damaged bundle changes nothing", async () => {
    await moveOn();
    const damaged = join(dir, "damaged.tar");
    const bytes = readFileSync(join(bundles, bundle));
    const at = bytes.length - 5_000;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    writeFileSync(damaged, bytes);
    const { code } = await start(restore({ bundle: damaged }), variables(server.url));
    assert.equal(code, 1);
    const { users, isOpen } = await state();
    assert.deepEqual([users, isOpen], [["amelia", "bruno"], true]);
  });

  test("with NATS away the rows are there and services stay out until it has run again", async () => {
    await moveOn();
    const away = variables(server.url, { SVC_NATS_PASSWORD: "wrong" });
    const { code, error } = await start(restore(), away);
    assert.equal(code, 1);
    assert.match(error, /streams of NATS are not rebuilt/);
    const { isOpen, unfinished } = await state();
    assert.deepEqual([isOpen, unfinished], [false, 1]);
    await run(restore());
    assert.deepEqual(await state(), restored);
  });
});

describe("a restore that is killed", () => {
  const early = [
    "verify",
    "safety",
    "close",
    "drop",
    "create",
    "rows",
    "sequences",
    "newer-migrations",
    "end-sessions",
    "commit",
  ];
  for (const step of sampleOf(early, 2)) {
    test(`before or within its transaction (${step}) leaves the old database whole, and can be run again`, async () => {
      await moveOn();
      const { signal } = await start(
        restore({ safety: false }),
        variables(server.url, { SVC_TEST_KILL_AT: step }),
      );
      assert.equal(signal, "SIGKILL");
      await untilNobodyRestores();
      const { users, servers, sessions } = await state();
      assert.deepEqual([users, servers, sessions], [["amelia", "bruno"], ["of-amelia", "of-bruno"], 2]);
      await run(restore({ safety: false }));
      assert.deepEqual(await state(), restored);
    });
  }

  for (const step of sampleOf(["committed", "streams", "open"], 1)) {
    test(`after its commit (${step}) keeps services out until it has run again`, async () => {
      await moveOn();
      const { signal } = await start(
        restore({ safety: false }),
        variables(server.url, { SVC_TEST_KILL_AT: step }),
      );
      assert.equal(signal, "SIGKILL");
      await untilNobodyRestores();
      assert.deepEqual(await state(), { ...restored, isOpen: false, unfinished: 1 });
      await run(restore({ safety: false }));
      assert.deepEqual(await state(), restored);
    });
  }

  test("in its transaction leaves roles that a migration opens again", async () => {
    await moveOn();
    await start(restore({ safety: false }), variables(server.url, { SVC_TEST_KILL_AT: "rows" }));
    await untilNobodyRestores();
    assert.equal((await state()).isOpen, false);
    await migrateAll();
    assert.equal((await state()).isOpen, true);
  });
});

/** PostgreSQL notices a killed client when it next reads from it. */
async function untilNobodyRestores(application = "svc-restore"): Promise<void> {
  const { until } = await import("@svc/mesh/testing");
  await until(async () => {
    const rows = await query("select 1 from pg_stat_activity where application_name = $1", [application]);
    return rows.length === 0;
  });
}

async function storedMessages(stream: string): Promise<number> {
  const { connect } = await import("@nats-io/transport-node");
  const connection = await connect({
    servers: nats.url,
    user: "migrate",
    pass: nats.passwords["migrate"] ?? "",
    inboxPrefix: "_INBOX_migrate",
  });
  const reply = await connection.request(`$JS.API.STREAM.INFO.${stream}`, "", { timeout: 20_000 });
  await connection.close();
  return reply.json<{ state: { messages: number } }>().state.messages;
}

describe("a restore into an empty database", () => {
  test("makes schemas and rows, and what it makes belongs to the services", async () => {
    const url = await createDatabase("fresh");
    const { rows } = await run<{ rows: number }>(restore(), url);
    assert.ok(rows > 0);
    assert.deepEqual(await state(url), restored);
    await migrateAll(url);
    const owners = await query(
      "select distinct tableowner from pg_tables where schemaname = 'identity' and tablename <> 'schema_migrations'",
      [],
      url,
    );
    assert.deepEqual(owners, [{ tableowner: "svc_identity" }]);
  });

  for (const migrations of [1, 2, 4])
    test(`takes a bundle of a release that knew ${migrations} fewer migrations of each service`, async () => {
      const older = await createDatabase(`older_${migrations}`);
      const released = schemas.map((schema) =>
        schema.service === "ops-watchdog"
          ? schema
          : { ...schema, migrations: schema.migrations.slice(0, -migrations) },
      );
      await migrateAll(older, released);
      await query(
        "insert into identity.users (id, username, role, created_at, updated_at) values ('amelia', 'amelia', 'owner', now(), now())",
        [],
        older,
      );
      const { name } = await run<{ name: string }>({ do: "back-up", label: "manual" }, older);
      const newer = await createDatabase(`newer_${migrations}`);
      await run(restore({ bundle: name, safety: false }), newer);
      assert.deepEqual((await state(newer)).users, ["amelia"]);
      await migrateAll(newer);
    });
});

describe("a rehearsal", () => {
  const asWatchdog = () => {
    const url = new URL(server.url);
    url.username = "svc_ops_watchdog";
    url.password = passwords["ops-watchdog"] ?? "";
    return url.href;
  };
  const scratch = () => query("select datname from pg_database where datname like 'svc_rehearsal%'");

  test("restores the bundle as the service's own role, counts and checks it, and leaves nothing behind", async () => {
    await migrateAll();
    const result = await run<{ rows: number; error?: string }>({ do: "rehearse", bundle }, asWatchdog());
    assert.equal(result.error, undefined);
    const { bundles } = await run<{ bundles: { name: string; counts?: { rows: number } }[] }>({ do: "list" });
    assert.equal(result.rows, bundles.find(({ name }) => name === bundle)?.counts?.rows);
    assert.deepEqual(await scratch(), []);
    const [row] = await query(
      "select bundle, error, row_count::int as rows from ops_watchdog.rehearsals order by id desc limit 1",
    );
    assert.deepEqual(row, { bundle, error: null, rows: result.rows });
  });

  for (const step of sampleOf(["rows", "drop", "count"], 1)) {
    test(`that is killed (${step}) changes nothing but its scratch database, which the next one drops`, async () => {
      await run(restore({ safety: false }));
      const command = { do: "rehearse", bundle };
      const { signal } = await start(command, variables(asWatchdog(), { SVC_TEST_KILL_AT: step }));
      assert.equal(signal, "SIGKILL");
      assert.equal((await scratch()).length, 1);
      assert.deepEqual(await state(), restored);
      await untilNobodyRestores("svc-rehearsal");
      assert.equal((await run<{ error?: string }>(command, asWatchdog())).error, undefined);
      assert.deepEqual(await scratch(), []);
    });
  }

  test("of a database without an owner fails with what is not true", async () => {
    await run(restore({ safety: false }));
    await query("update identity.users set role = 'user'");
    const { name } = await run<{ name: string }>({ do: "back-up", label: "pre-migrate" });
    const result = await run<{ error?: string }>({ do: "rehearse", bundle: name }, asWatchdog());
    assert.match(result.error ?? "", /identity: not true that .*owner/);
    assert.deepEqual(await scratch(), []);
  });
});
