// Who may sign in after a restore, with every schema of the product, on a PostgreSQL of this file alone.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { testProgram } from "@svc/config/test-program";
import { startPostgres } from "@svc/local-stack";
import { startTestNats, type TestNats } from "@svc/mesh/testing";
import { migrateUp } from "@svc/store";
import pg from "pg";
import { ownedSchemas } from "./schemas.ts";

const program = testProgram(resolve(import.meta.dirname, "../testing/host-main.ts"));
const schemas = ownedSchemas();
const dir = mkdtempSync(join(tmpdir(), "svc-restore-accounts-"));
const passwords = Object.fromEntries(schemas.map(({ service }) => [service, `password-of-${service}`]));
let server: Awaited<ReturnType<typeof startPostgres>>;
let nats: TestNats;

before(async () => {
  [server, nats] = await Promise.all([
    startPostgres({ dataDir: join(dir, "postgres"), password: "test", isDurable: false }),
    startTestNats(),
  ]);
  writeFileSync(join(dir, "roles.json"), JSON.stringify(passwords));
  for (const { service, name, migrations } of schemas)
    await migrateUp(server.url, { schema: name, rolePassword: passwords[service] ?? "", migrations });
});
after(async () => {
  await nats?.stop();
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function run<T>(command: object): Promise<T> {
  const env = {
    PATH: process.env["PATH"],
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    SVC_ADMIN_DATABASE_URL: server.url,
    SVC_ROLE_PASSWORDS_FILE: join(dir, "roles.json"),
    SVC_NATS_URL: nats.url,
    SVC_NATS_USER: "migrate",
    SVC_NATS_PASSWORD: nats.passwords["migrate"],
    SVC_SET: `ops_watchdog.bundle_dir=${join(dir, "bundles")}`,
    SVC_TEST_NO_SERVERS: "1",
  };
  const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(JSON.stringify(command));
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.equal(await ended, 0, error);
  return JSON.parse(out) as T;
}

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const db = new pg.Client({ connectionString: server.url });
  await db.connect();
  try {
    return (await db.query(sql)).rows;
  } finally {
    await db.end();
  }
}

const accounts = async () =>
  (await query("select username, role::text, disabled from identity.users order by 1")).map((row) =>
    [row["username"], row["role"], row["disabled"] ? "disabled" : ""].join(" ").trim(),
  );

test("who was locked out since the bundle was taken stays out, and the plan names its staff", async () => {
  await query(`insert into identity.users (id, username, role, disabled, deleted_at) values
    ('1', 'olga', 'owner', false, null), ('2', 'fired', 'admin', false, null), ('3', 'demoted', 'admin', false, null),
    ('4', 'kept', 'admin', false, null), ('5', 'banned', 'user', false, null), ('6', 'left', 'user', false, null),
    ('7', 'planted', 'admin', false, null), ('8', 'was out', 'admin', true, null), ('9', 'player', 'user', false, null)`);
  const { name: bundle } = await run<{ name: string }>({ do: "back-up", label: "manual" });
  await query("update identity.users set disabled = true where id in ('2', '5')");
  await query("update identity.users set role = 'user' where id in ('1', '3')");
  await query("update identity.users set deleted_at = now() where id = '6'");
  await query("update identity.users set role = 'admin' where id = '9'");
  await query("delete from identity.users where id = '7'");

  const { staff } = await run<{ staff: unknown }>({ do: "plan-restore", bundle });
  assert.deepEqual(staff, [
    { username: "demoted", role: "admin", now: "not staff" },
    { username: "fired", role: "admin", now: "disabled" },
    { username: "kept", role: "admin" },
    { username: "olga", role: "owner", now: "not staff" },
    { username: "planted", role: "admin", now: "unknown" },
  ]);

  const restore = { do: "restore", bundle, force: true, safety: false };
  const done = await run<{ stayDisabled: string[]; noLongerStaff: string[] }>(restore);
  assert.deepEqual([done.stayDisabled, done.noLongerStaff], [["banned", "fired", "left"], ["demoted"]]);
  const after = [
    ...["banned user disabled", "demoted user", "fired admin disabled", "kept admin", "left user disabled"],
    ...["olga owner", "planted admin", "player user", "was out admin disabled"],
  ];
  assert.deepEqual(await accounts(), after);

  // A restore that was interrupted is run again, over what it has already brought back.
  await run(restore);
  assert.deepEqual(await accounts(), after);
});

test("into an empty database everybody comes as the bundle has them, and nobody is known", async () => {
  const { name: bundle } = await run<{ name: string }>({ do: "back-up", label: "manual" });
  await query("update identity.users set disabled = false where username = 'banned'");
  await query(schemas.map(({ name }) => `drop schema ${name} cascade;`).join(""));
  const { staff } = await run<{ staff: { now?: string }[] }>({ do: "plan-restore", bundle });
  assert.deepEqual(new Set(staff.map(({ now }) => now)), new Set(["unknown"]));
  const done = await run<{ stayDisabled: string[] }>({ do: "restore", bundle, force: true, safety: false });
  assert.deepEqual(done.stayDisabled, []);
  assert.ok((await accounts()).includes("banned user disabled"));
});
