// The archive of the log of a real PostgreSQL, and recovery from it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { listBundles } from "../bundle/folder.ts";
import { verifyBundle } from "../bundle/verify.ts";
import { accountsOf, startWalFixture, type WalFixture } from "../testing/wal-fixture.ts";

let wal: WalFixture;
let archive: { close: () => Promise<void> } | undefined;

/** Starts the archive unless it runs. */
function start(about: Parameters<WalFixture["archive"]>[0] = {}): void {
  archive ??= wal.archive(about);
}

async function startCovered(): Promise<void> {
  start();
  await until(async () => (await wal.covered()) !== undefined, 60_000);
}

async function stop(): Promise<void> {
  await archive?.close();
  archive = undefined;
}

before(async () => {
  wal = await startWalFixture();
});
after(async () => {
  await stop();
  await wal?.stop();
});

describe("a point in time", () => {
  let first: Date;
  let second: Date;

  test("is a bundle of what was committed until then, and nothing later", async () => {
    await wal.insert(1);
    start();
    await until(async () => (await wal.covered()) !== undefined, 60_000);
    await wal.insert(2);
    first = await wal.now();
    await wal.insert(3);
    await wal.fillSegment();
    second = await wal.now();
    await wal.insert(4);
    await wal.isCovered(await wal.now());
    const bundle = await wal.recover(first);
    assert.deepEqual(accountsOf(bundle.path), ["1", "2"]);
    assert.equal(bundle.manifest.recovered_to, first.toISOString());
    await verifyBundle(bundle.path, { rows: true, sidecar: true });
    assert.deepEqual(
      (await listBundles(wal.bundleDir)).map(({ problem }) => problem),
      [undefined],
    );
    assert.deepEqual(accountsOf((await wal.recover(second)).path), ["1", "2", "3"]);
    // Nothing is left of the scratch database.
    assert.deepEqual(
      readdirSync(wal.walDir).filter((name) => name.startsWith(".")),
      [],
    );
  });

  test("after the last commit is the end of the log", async () => {
    const now = await wal.now();
    await wal.isCovered(now);
    assert.deepEqual(accountsOf((await wal.recover(now)).path), ["1", "2", "3", "4"]);
  });

  test("outside of what is covered is refused, and what is covered is named", async () => {
    const { from, until: end } = (await wal.covered()) ?? assert.fail();
    for (const at of [new Date(from.getTime() - 1), new Date(end.getTime() + 3_600_000)])
      await assert.rejects(wal.recover(at), /cannot be recovered .*covered is from .* until /);
  });
});

describe("the archive", () => {
  test("goes on without a gap when the receiver or the server was restarted", async () => {
    await stop();
    await wal.insert(5);
    await wal.stopServer();
    await wal.startServer();
    start();
    await wal.insert(6);
    const before = await wal.now();
    await wal.isCovered(before);
    wal.killServer();
    await wal.stopServer();
    await wal.startServer();
    await wal.insert(7);
    const now = await wal.now();
    await wal.isCovered(now);
    assert.equal((await wal.runs()).length, 1);
    assert.deepEqual(accountsOf((await wal.recover(before)).path), ["1", "2", "3", "4", "5", "6"]);
    assert.deepEqual(accountsOf((await wal.recover(now)).path), ["1", "2", "3", "4", "5", "6", "7"]);
  });

  test("names a damaged segment instead of ending before it", async () => {
    await startCovered();
    const [run] = await wal.runs();
    const now = await wal.now();
    await wal.fillSegment();
    await wal.isCovered(await wal.now());
    const name = (await wal.runs())[0]?.segments.at(-1)?.name ?? assert.fail();
    const path = join(run?.path ?? "", "wal", name);
    const bytes = readFileSync(path);
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8(damaged.readUInt8(9_000) ^ 1, 9_000);
    writeFileSync(path, damaged);
    await assert.rejects(wal.recover(now), new RegExp(`the segment ${name} is not as it was received`));
    rmSync(path);
    await assert.rejects(wal.recover(now), new RegExp(`the segment ${name} is missing`));
    writeFileSync(path, bytes);
    await wal.recover(now);
  });

  test("begins a new run with a base backup of its own after a gap, and both can be recovered", async () => {
    await startCovered();
    await wal.insert(8);
    const before = await wal.now();
    await wal.isCovered(before);
    await stop();
    for (let round = 0; round < 8; round += 1) {
      await wal.fillSegment();
      await wal.sql("checkpoint");
    }
    await wal.sql("delete from identity.users where id = 8");
    start();
    await until(async () => (await wal.runs()).length === 2, 60_000);
    await startCovered();
    const after = await wal.now();
    await wal.isCovered(after);
    assert.match((await wal.runs())[1]?.about.reason ?? "", /gap: /);
    assert.equal(accountsOf((await wal.recover(after)).path).includes("8"), false);
    assert.equal(accountsOf((await wal.recover(before)).path).includes("8"), true);
  });

  test("uses an older base backup when the newest is damaged, and says so", async () => {
    // A checkpoint while nobody receives would be a gap, and the run after it would have one base backup.
    await wal.keepLog();
    await stop();
    start({ settings: { ...wal.settings, base_backup_every: 1 } });
    await until(async () => ((await wal.runs()).at(-1)?.bases.length ?? 0) >= 2, 60_000);
    await stop();
    start();
    const now = await wal.now();
    await wal.isCovered(now);
    const newest = (await wal.runs()).at(-1)?.bases.at(-1) ?? assert.fail();
    const tar = join(newest.path, "base.tar.zst");
    truncateSync(tar, newest.about.bytes - 5_000);
    const { skipped, base } = await wal.recover(now);
    assert.equal(skipped.length, 1);
    assert.match(skipped[0] ?? "", new RegExp(newest.name));
    assert.notEqual(base, newest.name);
  });
});
