// The process is killed at each step of sending, fetching, deleting and sealing again the copies of the log. Nothing that is
// said to be covered is lost, and a repeat finishes.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import type { Command } from "../host/command.ts";
import { type Host, type OffsiteFixture, openOffsiteFixture } from "../testing/offsite-fixture.ts";
import { accountsOf, startWalFixture, type WalFixture } from "../testing/wal-fixture.ts";
import type { FetchedWal } from "./fetch-wal.ts";
import type { PassResult } from "./pass.ts";
import { walOfKey } from "./wal-key.ts";
import { readWalState } from "./wal-state.ts";

let fixture: OffsiteFixture;
let wal: WalFixture;
let host: Host;
let fresh: Host;
let freshDir: string;
let archive: { close: () => Promise<void> };
let hosts = 0;
let ids = 0;

before(async () => {
  [fixture, wal] = await Promise.all([openOffsiteFixture(), startWalFixture()]);
  // A checkpoint while nobody receives would be a gap.
  await wal.keepLog();
  archive = wal.archive();
  await until(async () => (await wal.covered()) !== undefined, 60_000);
});
after(async () => {
  await archive?.close();
  await wal?.stop();
  await fixture?.stop();
});
beforeEach(async () => {
  await fixture.reset();
  hosts += 1;
  if (freshDir) rmSync(freshDir, { recursive: true, force: true });
  freshDir = mkdtempSync(join(tmpdir(), "svc-wal-fresh-"));
  const settingsOf = (dir: string) => [
    "ops_watchdog.wal_archive=true",
    `ops_watchdog.wal_dir=${dir}`,
    "offsite.wal_extra_keep=1ms",
    "ops_watchdog.wal_keep=1ms",
  ];
  host = fixture.addHost(`wal-host-${hosts}`, settingsOf(wal.walDir));
  fresh = fixture.addHost(`wal-fresh-${hosts}`, settingsOf(freshDir));
  await host.run({ do: "back-up", label: "daily" });
  await wal.insert(++ids);
  await wal.fillSegment();
  await wal.insert(++ids);
  const at = await wal.now();
  await wal.isCovered(at);
});

async function kill(one: Host, command: Command, step: string): Promise<void> {
  assert.equal(await one.kill(command, step), "SIGKILL");
}

/** PostgreSQL notices a killed client, and frees its locks, when it next reads from it. */
async function finished(command: Command): Promise<void> {
  await until(async () => {
    const result = await host.run<PassResult>(command).catch((error: Error) => {
      if (error.name !== "BusyError") throw error;
      return undefined;
    });
    if (result) assert.equal(result.state, "completed", JSON.stringify(result.report));
    return result !== undefined;
  }, 60_000);
}

/** What the copies are said to cover is brought back from them alone. */
async function assertCovered(): Promise<void> {
  const covered = Object.values((await readWalState(host.stateDir))?.runs ?? {}).at(-1);
  const at = new Date(covered?.until ?? assert.fail("nothing is covered"));
  const { failures } = await fresh.run<FetchedWal>({ do: "offsite-fetch-wal", at });
  assert.deepEqual(failures, []);
  const { path } = await wal.recoverFrom({ walDir: freshDir, bundleDir: join(freshDir, "bundles") }, at);
  assert.deepEqual(
    accountsOf(path),
    Array.from({ length: ids }, (_, index) => String(index + 1)),
  );
}

describe("a pass whose process is killed while it sends the log", () => {
  const steps = ["wal", "wal-part", "wal-part:3", "wal-part:5", "wal-open", "wal-received", "wal-sent"];
  for (const step of sampleOf(steps, 2)) {
    test(`at ${step} is finished by the next one`, async () => {
      await kill(host, { do: "offsite-sync" }, step);
      await finished({ do: "offsite-sync" });
      await assertCovered();
    });
  }

  for (const step of sampleOf(["wal-part", "wal-open", "wal-received", "wal-sent"], 1)) {
    test(`alone, at ${step}, leaves what was covered covered, and the next one finishes`, async () => {
      await finished({ do: "offsite-sync" });
      const before = await readWalState(host.stateDir);
      await wal.fillSegment();
      await wal.insert(++ids);
      await wal.isCovered(await wal.now());
      await kill(host, { do: "offsite-sync-wal" }, step);
      assert.deepEqual(await readWalState(host.stateDir), before);
      await finished({ do: "offsite-sync-wal" });
      await assertCovered();
    });
  }
});

describe("a fetch whose process is killed", () => {
  const steps = ["wal-place", "wal-download", "wal-verify", "wal-rename", "wal-rename:2", "wal-received"];
  for (const step of sampleOf(steps, 2)) {
    test(`at ${step} leaves nothing that counts, and the next one finishes`, async () => {
      await finished({ do: "offsite-sync" });
      await kill(fresh, { do: "offsite-fetch-wal" }, step);
      const status = await fresh.run<{ runs: { covered?: unknown }[] }>({ do: "wal-status" });
      assert.ok(status.runs.every(({ covered }) => covered === undefined));
      await assertCovered();
      const names = readdirSync(freshDir, { recursive: true, encoding: "utf8" });
      assert.deepEqual(
        names.filter((name) => name.includes(".fetched-")),
        [],
      );
    });
  }
});

const localBases = async () => (await wal.runs()).at(-1)?.bases.map(({ name }) => name) ?? [];
const copiedBases = () => new Set(fixture.s3.keys().flatMap((key) => baseOf(key)));

/** Newer base backups take the place of those that are here, and are copied. */
async function replaceBases(): Promise<void> {
  const before = await localBases();
  await archive.close();
  const settings = { ...wal.settings, base_backup_every: 1, wal_keep: 1, bundle_retry: 1 };
  archive = wal.archive({ settings });
  await until(async () => {
    const now = await localBases();
    return now.length > 0 && now.every((name) => !before.includes(name));
  }, 120_000);
  await archive.close();
  archive = wal.archive();
  await wal.isCovered(await wal.now());
  await finished({ do: "offsite-sync-wal" });
}

test("a pass that is killed while it deletes keeps what covers the present, and the next one finishes", async () => {
  // A database without a backup looks lost.
  fixture.storage.add("bk-1");
  await finished({ do: "offsite-sync" });
  const first = [...copiedBases()];
  for (let n = 0; n < 2; n += 1) await replaceBases();
  assert.ok(first.every((name) => copiedBases().has(name)));
  const [step = ""] = sampleOf(["delete", "deleted", "delete:2", "deleted:3"], 1);
  await kill(host, { do: "offsite-sync" }, step);
  await finished({ do: "offsite-sync" });
  assert.ok(
    first.every((name) => !copiedBases().has(name)),
    [...copiedBases()].join(" "),
  );
  await assertCovered();
});

function baseOf(key: string): string[] {
  const part = walOfKey(key);
  return part?.kind === "base" ? [part.base] : [];
}
