// A dump beside the rows, by the PostgreSQL of the machine: the embedded one comes without its programs.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { findFreePort } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { findDump } from "./dump.ts";
import { verifyBundle } from "./verify.ts";
import { writeBundle } from "./write.ts";

const run = promisify(execFile);
const [bin] = globSync("/usr/lib/postgresql/*/bin").sort().reverse();
const isThere = bin !== undefined && existsSync(join(bin, "initdb")) && existsSync(join(bin, "pg_dump"));
const nobody = 65_534;
/** PostgreSQL refuses to run as root. */
const account = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

describe("a bundle of a server whose pg_dump is there", {
  skip: isThere ? false : "no PostgreSQL in /usr/lib/postgresql",
}, () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-dump-"));
  const program = (name: string) => join(bin ?? "", name);
  let server: ReturnType<typeof spawn> | undefined;
  let url = "";
  before(async () => {
    const data = join(dir, "data");
    mkdirSync(data);
    chmodSync(dir, 0o755);
    if (account.uid !== undefined) chownSync(data, account.uid, account.gid);
    const env = { PATH: `${bin}:/usr/bin:/bin`, LC_ALL: "C" };
    const made = ["-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--no-instructions"];
    await run(program("initdb"), made, { ...account, env, cwd: "/" });
    const port = await findFreePort();
    const settings = { listen_addresses: "127.0.0.1", port, unix_socket_directories: "", fsync: "off" };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    server = spawn(program("postgres"), ["-D", data, ...options], {
      ...account,
      env,
      cwd: "/",
      stdio: "ignore",
    });
    url = `postgres://postgres:secret@127.0.0.1:${port}/postgres`;
    await until(() => query("select 1"), 60_000, "PostgreSQL");
    await query("create schema identity");
    await query("create table identity.schema_migrations (version int, name text)");
    await query("create table identity.users (id int primary key, name text)");
    await query("insert into identity.users select i, 'user ' || i from generate_series(1, 1000) i");
  });
  after(async () => {
    const ended = server && new Promise((done) => server?.once("exit", done));
    server?.kill("SIGQUIT");
    await ended;
    rmSync(dir, { recursive: true, force: true });
  });

  async function query(text: string, at = url): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: at });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  const take = (path: string, label: "daily" | "manual") => {
    const servers = { kind: "read" as const, items: [] };
    return writeBundle({ url, dir: join(dir, "bundles"), label, version: "0.1.0", servers, path });
  };

  test("has it beside the rows, and pg_restore reads it", async () => {
    const { path, manifest, dumpError } = await take(bin ?? "", "daily");
    assert.deepEqual([dumpError, manifest.members.at(-1)?.name], [undefined, "db.dump"]);
    assert.match(manifest.pg_dump ?? "", /^\d+\.\d+$/);
    await verifyBundle(path, { rows: true, sidecar: true });
    await run("tar", ["xf", path, "-C", dir, "db.dump"]);
    await query("create database restored");
    const restored = url.replace(/postgres$/, "restored");
    await run(program("pg_restore"), [`--dbname=${restored}`, join(dir, "db.dump")]);
    const counted = await query("select count(*)::int as count from identity.users", restored);
    assert.deepEqual(counted, [{ count: 1_000 }]);
  });

  test("is whole without it when pg_dump fails in the middle", async () => {
    const broken = join(dir, "broken");
    mkdirSync(broken);
    const lines = ["#!/bin/sh", `[ "$1" = --version ] && exec ${program("pg_dump")} --version`];
    const failing = [...lines, "head -c 100000 /dev/zero", "echo no more >&2", "exit 1", ""].join("\n");
    writeFileSync(join(broken, "pg_dump"), failing, { mode: 0o755 });
    const { path, manifest, dumpError } = await take(`${broken}:/usr/bin:/bin`, "manual");
    assert.deepEqual([dumpError, manifest.pg_dump], ["no more", undefined]);
    assert.equal(
      manifest.members.some(({ name }) => name === "db.dump"),
      false,
    );
    await verifyBundle(path, { rows: true, sidecar: true });
  });

  test("of another major version has none", async () => {
    assert.equal(await findDump(bin, "99.1"), undefined);
    assert.equal(await findDump("/nowhere", "15.1"), undefined);
  });
});
