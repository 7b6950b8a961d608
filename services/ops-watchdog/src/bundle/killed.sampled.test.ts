// The process is killed while it takes bundles, verifies or deletes them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, describe, test } from "node:test";
import { testProgram } from "@svc/config/test-program";
import { sampleOf } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import type { TestDatabase } from "@svc/store/testing";
import { createWatchdogDatabase } from "../testing/fixture.ts";
import { findingOf } from "./finding.ts";
import { listBundles } from "./folder.ts";
import { sidecarOf, verifyBundle } from "./verify.ts";

const program = testProgram(resolve(import.meta.dirname, "../testing/host-main.ts"));
let database: TestDatabase;
let folder: string;

before(async () => {
  database = await createWatchdogDatabase();
});
after(() => database?.drop());
beforeEach((t) => {
  folder = mkdtempSync(join(tmpdir(), "svc-killed-"));
  (t as { after: (run: () => void) => void }).after(() => rmSync(folder, { recursive: true, force: true }));
});

type Ended = { out: string; error: string; signal: NodeJS.Signals | null };

/** Runs a command in a process of its own. */
async function start(command: object, killAt = ""): Promise<Ended> {
  const env = {
    PATH: process.env["PATH"],
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    SVC_ADMIN_DATABASE_URL: database.adminUrl,
    SVC_SET: `ops_watchdog.bundle_dir=${folder}\nops_watchdog.keep_daily=1`,
    SVC_TEST_KILL_AT: killAt,
  };
  const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(JSON.stringify(command));
  const ended = new Promise<NodeJS.Signals | null>((done) =>
    child.once("close", (_, signal) => done(signal)),
  );
  const [out, error, signal] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { out, error, signal };
}

/** Takes a daily bundle; only one is kept. */
async function take(killAt = ""): Promise<Omit<Ended, "out"> & { name?: string }> {
  const { out, ...ended } = await start({ do: "back-up", label: "daily" }, killAt);
  return { ...(out !== "" && { name: (JSON.parse(out) as { name: string }).name }), ...ended };
}

async function kill(step: string): Promise<void> {
  const { signal, error } = await take(step);
  assert.equal(signal, "SIGKILL", error);
  // PostgreSQL notices a killed client when it next reads from it.
  await until(async () => {
    const rows = await database.admin(
      "select 1 from pg_stat_activity where application_name like 'svc-bundle%' and datname = current_database()",
    );
    return rows.length === 0;
  }, 30_000);
}

/** Every file in the folder belongs to a bundle, and each of these is whole. */
async function assertOnlyWhole(): Promise<string[]> {
  const found = await listBundles(folder);
  for (const { path, problem } of found) {
    assert.equal(problem, undefined);
    await verifyBundle(path, { rows: true, sidecar: true });
  }
  return found.map(({ name }) => name);
}

/** The next bundle is the only one that is left; two bundles of one second would have one name. */
async function assertNextIsAlone(): Promise<void> {
  const taken = await until(async () => (await take()).name, 60_000);
  assert.deepEqual(readdirSync(folder).sort(), [taken, sidecarOf(taken)]);
  assert.deepEqual(await assertOnlyWhole(), [taken]);
}

describe("a bundle whose process is killed while it is taken", () => {
  const unnamed = ["snapshot", "tables", "servers", "manifest", "read-back", "sidecar", "name"];
  for (const step of sampleOf(unnamed, 2)) {
    test(`before it has its name (${step}) does not count, and the next one sweeps its files`, async () => {
      await kill(step);
      assert.deepEqual(await listBundles(folder), []);
      await assertNextIsAlone();
    });
  }

  for (const step of sampleOf(["linked", "record", "retention"], 1)) {
    test(`once it has its name (${step}) is whole`, async () => {
      await kill(step);
      assert.equal((await assertOnlyWhole()).length, 1);
      await assertNextIsAlone();
    });
  }
});

describe("a verification whose process is killed", () => {
  for (const step of sampleOf(["finding-name", "finding"], 1)) {
    test(`at ${step} has found nothing, and the next one finds what is damaged`, async () => {
      const { name = "", error } = await take();
      assert.notEqual(name, "", error);
      const path = join(folder, name);
      const bytes = readFileSync(path);
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 5_000) ^ 1, bytes.length - 5_000);
      writeFileSync(path, bytes);
      assert.equal((await start({ do: "verify" }, step)).signal, "SIGKILL");
      assert.equal(existsSync(findingOf(path)), false);
      const { out } = await start({ do: "verify" });
      assert.deepEqual(
        (JSON.parse(out) as { results: { ok: boolean }[] }).results.map(({ ok }) => ok),
        [false],
      );
      rmSync(path);
      await assertNextIsAlone();
    });
  }
});

describe("a deletion whose process is killed", () => {
  for (const step of sampleOf(["delete", "delete-finding", "delete-sidecar"], 2)) {
    test(`at ${step} leaves the new bundle whole, and the next one deletes the rest`, async () => {
      const { name = "", error } = await take();
      assert.notEqual(name, "", error);
      // An older file that is not whole, with everything that can be beside it: it is deleted first.
      const path = join(folder, name);
      const old = join(folder, "db-20260101T000000Z-daily.tar");
      copyFileSync(path, old);
      copyFileSync(sidecarOf(path), sidecarOf(old));
      writeFileSync(findingOf(old), "{}");
      await until(async () => (await take(step)).signal === "SIGKILL", 60_000);
      const [newest, ...older] = await listBundles(folder);
      assert.notEqual(newest?.name, name);
      await verifyBundle(newest?.path ?? "", { rows: true, sidecar: true });
      assert.ok(older.some((one) => one.name === name && one.problem === undefined));
      await assertNextIsAlone();
    });
  }
});
