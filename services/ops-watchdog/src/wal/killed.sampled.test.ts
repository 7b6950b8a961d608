// The process is killed while it archives the log or recovers from it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { testProgram } from "@svc/config/test-program";
import { sampleOf } from "@svc/config/testing";
import { findPostgresProgram } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { listBundles } from "../bundle/folder.ts";
import { accountsOf, startWalFixture, type WalFixture } from "../testing/wal-fixture.ts";

const archiveProgram = testProgram(resolve(import.meta.dirname, "../testing/wal-main.ts"));
const hostProgram = testProgram(resolve(import.meta.dirname, "../testing/host-main.ts"));
let wal: WalFixture;
let ids = 0;

before(async () => {
  wal = await startWalFixture();
  // A checkpoint while nobody receives would be a gap, which archive.slow.test.ts looks at.
  await wal.keepLog();
});
after(() => wal?.stop());

const ownEnv = () => ({
  PATH: process.env["PATH"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
});

/** Starts an archive that is killed at a step, with something to do at each. */
async function killArchive(step: string): Promise<void> {
  const settings = {
    ...wal.settings,
    base_backup_every: 1,
    wal_keep: step === "wal-delete" ? 1 : wal.settings.wal_keep,
  };
  const env = {
    ...ownEnv(),
    SVC_TEST_WAL: JSON.stringify({ url: wal.url(), settings }),
    SVC_TEST_KILL_AT: step,
  };
  const child = spawn(process.execPath, [archiveProgram], { env, stdio: ["ignore", "ignore", "inherit"] });
  const ended = new Promise<NodeJS.Signals | null>((done) => child.once("exit", (_, signal) => done(signal)));
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      await wal.insert(++ids);
      await wal.fillSegment();
      await new Promise((done) => setTimeout(done, 500));
    }
  })();
  assert.equal(await ended, "SIGKILL");
  isOver = true;
  await writing;
}

describe("an archive whose process is killed", () => {
  const steps = ["flush", "received", "segment-digest", "segment-name", "base-stream", "base-manifest"];
  const later = ["base-read-back", "base-name", "base-named", "wal-delete"];
  for (const step of [...sampleOf(steps, 2), ...sampleOf(later, 2)]) {
    test(`at ${step} goes on, and everything that was committed can be recovered`, async () => {
      await killArchive(step);
      await wal.insert(++ids);
      const archive = wal.archive();
      try {
        await until(async () => (await wal.covered()) !== undefined, 60_000);
        const at = await wal.now();
        await wal.insert(++ids);
        await wal.isCovered(at);
        const expected = Array.from({ length: ids - 1 }, (_, index) => String(index + 1));
        const { path } = await wal.recover(at);
        assert.deepEqual(accountsOf(path), expected);
        await until(async () => {
          const run = (await wal.runs()).at(-1);
          return run !== undefined && readdirSync(run.path).every((name) => !name.startsWith(".base-"));
        }, 60_000);
      } finally {
        await archive.close();
      }
    });
  }
});

describe("a recovery whose process is killed", () => {
  async function recover(at: Date, killAt: string) {
    const env = {
      ...ownEnv(),
      SVC_SET: `ops_watchdog.wal_dir=${wal.walDir}\nops_watchdog.bundle_dir=${wal.bundleDir}`,
      SVC_TEST_NO_SERVERS: "1",
      SVC_TEST_KILL_AT: killAt,
    };
    const child = spawn(process.execPath, [hostProgram], { env, stdio: ["pipe", "pipe", "pipe"] });
    const command = { do: "recover", at: at.toISOString(), program: await findPostgresProgram() };
    child.stdin.end(JSON.stringify(command));
    const ended = new Promise<NodeJS.Signals | null>((done) => child.once("close", (_, by) => done(by)));
    const [error, signal] = await Promise.all([text(child.stderr), ended, text(child.stdout)]);
    return { error, signal, pid: child.pid };
  }

  for (const step of sampleOf(["unpack", "gather", "apply", "bundle", "read-back", "recovered-name"], 2)) {
    test(`at ${step} leaves no bundle, and the next one clears what it left`, async () => {
      const archive = wal.archive();
      await until(async () => (await wal.covered()) !== undefined, 60_000);
      const at = await wal.now();
      await wal.isCovered(at);
      await archive.close();
      const before = (await listBundles(wal.bundleDir)).map(({ name }) => name);
      const killed = await recover(at, step);
      assert.equal(killed.signal, "SIGKILL", killed.error);
      assert.deepEqual(
        (await listBundles(wal.bundleDir)).map(({ name }) => name),
        before,
      );
      const again = await recover(at, "");
      assert.equal(again.signal, null, again.error);
      const bundles = await listBundles(wal.bundleDir);
      assert.equal(bundles.length, before.length + 1);
      assert.deepEqual([...new Set(bundles.map(({ problem }) => problem))], [undefined]);
      for (const dir of [wal.walDir, wal.bundleDir, tmpdir()])
        assert.deepEqual(
          readdirSync(dir).filter(
            (name) => name.startsWith(".recover") || name.startsWith(`svc-recover-${killed.pid}-`),
          ),
          [],
        );
    });
  }
});
