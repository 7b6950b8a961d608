import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import type { TestDatabase } from "@svc/store/testing";
import { settings as schema } from "../config.ts";
import { createWatchdogDatabase } from "../testing/fixture.ts";
import { copyOut } from "./copy-out.ts";
import { findDue, verifyAndRecord } from "./finding.ts";
import { listBundles } from "./folder.ts";
import { bundleName } from "./name.ts";
import type { ServerObjects } from "./server-objects.ts";
import { connect, openSnapshot } from "./snapshot.ts";
import { BusyError, takeBundle } from "./take.ts";
import { sidecarOf, verifyBundle } from "./verify.ts";
import { writeBundle } from "./write.ts";

let database: TestDatabase;
let dir: string;
let folder: string;

before(async () => {
  database = await createWatchdogDatabase();
  await database.admin("create schema identity");
  await database.admin("create table identity.schema_migrations (version int, name text)");
  await database.admin("insert into identity.schema_migrations values (1, 'outbox'), (2, 'accounts')");
  await database.admin(`create table identity.users (
    id bigint generated always as identity primary key, name text, length int generated always as (length(name)) stored)`);
  await database.admin(
    "insert into identity.users (name) values ('amelia'), (null), (e'two\\nlines\\tand \\\\')",
  );
  await database.admin("create table identity.blobs (id int, body bytea)");
  await database.admin(
    "insert into identity.blobs select i, decode(repeat(md5(i::text), 20000), 'hex') from generate_series(1, 30) i",
  );
});
after(() => database?.drop());
beforeEach((t) => {
  dir = mkdtempSync(join(tmpdir(), "svc-bundles-"));
  folder = join(dir, "db-backups");
  (t as { after: (run: () => void) => void }).after(() => rmSync(dir, { recursive: true, force: true }));
});

const servers: ServerObjects = {
  kind: "read",
  items: [
    {
      apiVersion: "svc.internal/v1alpha1",
      kind: "MinecraftServer",
      metadata: { name: "survival" },
      spec: {},
    },
  ],
};

function take(
  options: Parameters<typeof takeBundle>[2] & {
    servers?: ServerObjects;
    set?: string[];
    label?: "daily" | "offsite";
  } = {},
) {
  const settings = loadSettings(schema, {
    overrides: [`ops_watchdog.bundle_dir=${folder}`, ...(options.set ?? [])],
  }).ops_watchdog;
  const deps = {
    url: database.adminUrl,
    settings,
    version: "0.1.0",
    readServers: async () => options.servers ?? servers,
    path: undefined,
    now: () => new Date(Date.now() + 60_000),
  };
  return takeBundle(deps, options.label ?? "daily", options);
}

const recorded = () =>
  database.admin("select name, servers_error, damage from ops_watchdog.database_bundles order by 1");

describe("a bundle", () => {
  test("is a plain tar of its owner alone, with its digest beside it", async () => {
    const bundle = await take();
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    for (const path of [bundle.path, sidecarOf(bundle.path)])
      assert.equal(statSync(path).mode & 0o777, 0o600, path);
    assert.deepEqual(readdirSync(folder).sort(), [bundle.name, `${bundle.name}.sha256`]);
    execFileSync("sha256sum", ["--check", `${bundle.name}.sha256`], { cwd: folder });
    const members = execFileSync("tar", ["--list", "--file", bundle.path], { encoding: "utf8" })
      .trim()
      .split("\n");
    assert.equal(members[0], "MANIFEST.json");
    assert.deepEqual(
      members.slice(1),
      bundle.manifest.members.map(({ name }) => name),
    );
    assert.ok(members.includes("db/identity/users.copy.zst"));
    assert.equal(bundle.sizeBytes, statSync(bundle.path).size);
  });

  test("holds every row, without generated columns, and says how many", async () => {
    const { manifest, path } = await take();
    const identity = manifest.schemas.find(({ name }) => name === "identity");
    const users = identity?.tables.find(({ name }) => name === "users");
    assert.deepEqual([users?.rows, users?.columns], [3, ["id", "name"]]);
    assert.deepEqual(manifest.counts, { ...manifest.counts, accounts: 3, servers: 0 });
    assert.deepEqual(identity?.sequences, [{ name: "users_id_seq", last: "3" }]);
    assert.equal(identity?.migrations.at(-1)?.name, "accounts");
    const packed = execFileSync("tar", ["--extract", "--to-stdout", "--file", path, users?.member ?? ""]);
    assert.equal(
      execFileSync("zstd", ["-dc"], { input: packed, encoding: "utf8" }),
      "1\tamelia\n2\t\\N\n3\ttwo\\nlines\\tand \\\\\n",
    );
    await verifyBundle(path, { rows: true, sidecar: true });
  });

  test("is recorded, also why it lacks the servers", async () => {
    const { name } = await take({ servers: { kind: "failed", error: "no cluster" } });
    assert.deepEqual(await recorded(), [{ name, servers_error: "no cluster", damage: null }]);
  });

  test("for off-site copies is not taken without the servers", async () => {
    await assert.rejects(
      take({ label: "offsite", servers: { kind: "failed", error: "no cluster" } }),
      /no cluster/,
    );
    assert.equal(existsSync(folder), false);
  });

  test("is not taken while another one is", async () => {
    const client = await connect(database.adminUrl, "test");
    try {
      await client.query("select pg_advisory_lock(hashtext('svc_database_bundle'))");
      await assert.rejects(take(), BusyError);
    } finally {
      await client.end();
    }
    await take();
  });

  test("waits for the next second where its name is taken, also by a digest that was left or in the folder where it will belong", async () => {
    const among = join(dir, "among");
    mkdirSync(among);
    mkdirSync(folder);
    const about = {
      url: database.adminUrl,
      dir: folder,
      among,
      label: "manual" as const,
      version: "1",
      servers,
    };
    const inSeconds = (seconds: number) => bundleName("manual", new Date(Date.now() + seconds * 1_000));
    const taken = [inSeconds(0), inSeconds(1), inSeconds(2)];
    writeFileSync(join(folder, taken[0] ?? ""), "another");
    writeFileSync(sidecarOf(join(folder, taken[1] ?? "")), "another");
    writeFileSync(join(among, taken[2] ?? ""), "another");
    const first = await writeBundle(about);
    assert.ok(!taken.includes(first.name), first.name);
    const second = await writeBundle(about);
    assert.notEqual(second.name, first.name);
    for (const { path } of [first, second]) await verifyBundle(path, { rows: true, sidecar: true });
    assert.equal(readFileSync(join(folder, taken[0] ?? ""), "utf8"), "another");
  });

  test("does not have the rows of a transaction that commits while it is taken", async () => {
    const snapshot = await openSnapshot(database.adminUrl);
    try {
      await database.admin("insert into identity.users (name) values ('later')");
      const copy = copyOut(snapshot.client, "copy identity.users (id) to stdout");
      assert.equal(await textOf(copy.rows), "1\n2\n3\n");
    } finally {
      await snapshot.close();
      await database.admin("delete from identity.users where name = 'later'");
    }
  });
});

describe("what is damaged is found", () => {
  const damage: [what: string, change: (bytes: Buffer) => Buffer, said: RegExp][] = [
    ["a file that is cut off", (bytes) => bytes.subarray(0, bytes.length - 2_000), /cut off|has another/],
    ["an empty file", () => Buffer.alloc(0), /cut off/],
    ["bytes behind the end", (bytes) => Buffer.concat([bytes, Buffer.from("x")]), /longer/],
    ["one changed byte in the middle", (bytes) => flip(bytes, bytes.length >> 1), /digest|unpacked|damaged/],
    ["a changed manifest", (bytes) => flip(bytes, 520), /manifest|digest/],
    ["a changed header", (bytes) => flip(bytes, 3), /damaged|begin/],
  ];
  for (const [what, change, said] of damage) {
    test(what, async () => {
      const { path } = await take();
      writeFileSync(path, change(readFileSync(path)));
      await assert.rejects(verifyBundle(path, { rows: true, sidecar: true }), {
        name: "DamagedBundleError",
        message: said,
      });
    });
  }

  test("every changed byte of a small bundle's beginning is found by its digest", async () => {
    const { path } = await take();
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += 40_009) {
      writeFileSync(path, flip(Buffer.from(bytes), at));
      await assert.rejects(verifyBundle(path, { rows: false, sidecar: true }), {
        name: "DamagedBundleError",
      });
    }
  });

  test("a missing digest and an older bundle under a newer name are problems in the list", async () => {
    const { path, name } = await take();
    const other = name.replace("daily", "manual");
    writeFileSync(join(folder, other), readFileSync(path));
    rmSync(sidecarOf(path));
    const found = await listBundles(folder);
    assert.deepEqual(
      found.map(({ problem }) => problem).sort(),
      [`it is ${name} under another name`, "its .sha256 file is missing"].sort(),
    );
  });
});

function flip(bytes: Buffer, at: number): Buffer {
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x01, at);
  return bytes;
}

describe("a verification", () => {
  const verify = (path: string, now = new Date()) => verifyAndRecord(path, { dir: folder, now });
  const problems = async () => (await listBundles(folder)).map(({ problem }) => problem);

  test("that finds a changed byte is remembered until another finds the bundle whole", async () => {
    const { path, name } = await take();
    const bytes = readFileSync(path);
    writeFileSync(path, flip(Buffer.from(bytes), bytes.length >> 1));
    assert.deepEqual(await problems(), [undefined]);
    const found = await verify(path);
    assert.match(found?.problem ?? "", /digest|unpacked|damaged/);
    assert.deepEqual(await problems(), [found?.problem]);
    writeFileSync(path, bytes);
    assert.deepEqual(await problems(), [found?.problem]);
    assert.equal((await verify(path))?.ok, true);
    assert.deepEqual(await problems(), [undefined]);
    const finding = `${name}.verified`;
    assert.deepEqual(readdirSync(folder).sort(), [name, `${name}.sha256`, finding]);
    assert.equal(statSync(join(folder, finding)).mode & 0o777, 0o600);
  });

  test("of a file outside of the folder, or of none, records nothing", async () => {
    const { path, name } = await take();
    const outside = join(dir, name);
    writeFileSync(outside, readFileSync(path));
    writeFileSync(sidecarOf(outside), readFileSync(sidecarOf(path)));
    assert.equal((await verify(outside))?.ok, true);
    rmSync(path);
    assert.equal(await verify(path), undefined);
    assert.deepEqual(readdirSync(folder), [`${name}.sha256`]);
    assert.deepEqual(readdirSync(dir).sort(), [name, `${name}.sha256`, "db-backups"]);
  });

  test("comes once a week to each bundle, to the one that waits longest first", async () => {
    const { path, name, manifest } = await take();
    const old = "db-20260101T000000Z-daily.tar";
    await copyBundle(path, old);
    const hour = 3_600_000;
    const now = Date.parse(manifest.taken_at) + hour;
    const due = (at: number, everyMs = 168 * hour) => findDue(folder, { now: at, everyMs });
    assert.equal(await due(now), old);
    await verify(join(folder, old), new Date(now));
    assert.equal(await due(now), undefined);
    assert.equal(await due(now + 167 * hour), name);
    await verify(path, new Date(now + 167 * hour));
    assert.equal(await due(now + 167 * hour), undefined);
    assert.equal(await due(now + 168 * hour), old);
    assert.equal(await due(now + 168 * hour, 0), undefined);
    // The clock was set back.
    assert.equal(await due(now - hour), name);
    // Another file under the same name.
    writeFileSync(path, "x");
    assert.equal(await due(now + 167 * hour), name);
  });
});

describe("retention", () => {
  test("keeps a whole bundle in the place of a newer one that a verification found damaged", async () => {
    const first = await take();
    const second = await take({ step: await afterASecond(first.name) });
    const bytes = readFileSync(second.path);
    writeFileSync(second.path, flip(bytes, bytes.length >> 1));
    assert.equal((await verifyAndRecord(second.path, { dir: folder, now: new Date() }))?.ok, false);
    const third = await take({ set: ["ops_watchdog.keep_daily=2"], step: await afterASecond(second.name) });
    assert.deepEqual(third.deleted, []);
    const damaged = (await recorded()).filter(({ damage }) => damage !== null);
    assert.deepEqual(
      damaged.map(({ name }) => name),
      [second.name],
    );
  });

  test("deletes the surplus with its digests, keeps what nobody knows, and records what is left", async () => {
    const old = "db-20260101T000000Z-daily.tar";
    const first = await take();
    writeFileSync(join(folder, "notes.txt"), "mine");
    await copyBundle(first.path, old);
    const second = await take({ set: ["ops_watchdog.keep_daily=1"], step: await afterASecond(first.name) });
    assert.ok(second.deleted.includes(first.name));
    assert.equal(existsSync(join(folder, "notes.txt")), true);
    assert.equal(existsSync(sidecarOf(first.path)), false);
    const names = (await recorded()).map(({ name }) => name);
    assert.ok(names.includes(second.name) && !names.includes(first.name));
  });
});

/** Copies the file under another name; its manifest still has the old one, so that it does not count as whole. */
async function copyBundle(path: string, name: string): Promise<void> {
  writeFileSync(join(folder, name), readFileSync(path));
  writeFileSync(join(folder, `${name}.sha256`), readFileSync(sidecarOf(path)));
}

/** Two bundles of one second would have one name. */
async function afterASecond(name: string): Promise<() => void> {
  const second = name.slice(3, 19);
  const now = async () =>
    String(
      (
        await database.admin("select to_char(now() at time zone 'utc', 'YYYYMMDD\"T\"HH24MISS\"Z\"') as at")
      )[0]?.["at"],
    );
  while ((await now()) === second) await new Promise((resolve) => setImmediate(resolve));
  return () => undefined;
}

test("a COPY that fails is an error, never an empty table", async () => {
  const client = await connect(database.adminUrl, "test");
  try {
    const { rows } = copyOut(client, "copy identity.missing to stdout");
    await assert.rejects(textOf(rows), /identity\.missing/);
    const late = copyOut(client, "copy (select 1 / (i - 50000) from generate_series(1, 100000) i) to stdout");
    await assert.rejects(textOf(late.rows), /division by zero/);
    const after = copyOut(client, "copy (select i from generate_series(1, 100000) i) to stdout");
    // More than one block, and rows across their edges.
    const numbers = Array.from({ length: 100_000 }, (_, at) => `${at + 1}\n`).join("");
    assert.equal(await textOf(after.rows), numbers);
    assert.equal(after.count(), 100_000);
  } finally {
    await client.end();
  }
});

async function textOf(rows: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const block of rows) text += block.toString("latin1");
  return text;
}
