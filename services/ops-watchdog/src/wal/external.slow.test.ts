// A PostgreSQL that svc does not run: it is known by its addresses alone, one of a role that reads and one of a role that
// replicates. And what a full disk does to its archive.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { createLogger } from "@svc/telemetry";
import { accountsOf, startWalFixture, type WalFixture } from "../testing/wal-fixture.ts";
import { coverageOf, readArchive } from "./folder.ts";
import { readWalStatus } from "./status.ts";

let wal: WalFixture;
let archive: { close: () => Promise<void> } | undefined;

before(async () => {
  wal = await startWalFixture();
  await wal.keepLog();
  await wal.sql(
    `create role reader login password 'reads'; grant pg_read_all_data to reader;
     create role archiver login replication password 'copies'`,
  );
});
after(async () => {
  await archive?.close();
  await wal?.stop();
});

function urlOf(user: string, password: string): string {
  const url = new URL(wal.url());
  Object.assign(url, { username: user, password });
  return url.href;
}

/** As ops-watchdog archives with `ops_watchdog.replication_url_ref`. */
const start = (about: Parameters<WalFixture["archive"]>[0] = {}) =>
  wal.archive({ url: urlOf("reader", "reads"), replicationUrl: urlOf("archiver", "copies"), ...about });

test("a server elsewhere is archived by a role that only replicates, and recovered", async () => {
  archive = start();
  await until(async () => (await wal.covered()) !== undefined, 60_000);
  await wal.insert(1);
  const at = await wal.now();
  await wal.insert(2);
  await wal.isCovered(await wal.now());
  assert.deepEqual(accountsOf((await wal.recover(at)).path), ["1"]);
  await archive.close();
});

/** True where this account may mount. */
function mount(dir: string, size: string): boolean {
  mkdirSync(dir, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", dir], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("a full disk stops the archive and not the database, and it goes on without a gap when there is room", async (t) => {
  const dir = join(wal.dir, "small");
  if (!mount(dir, "96m")) return t.skip("this account may not mount");
  try {
    const failures: string[] = [];
    const log = createLogger("wal", "silent");
    log.warn = ((about: { error?: string }) => void failures.push(about.error ?? "")) as typeof log.warn;
    archive = start({ settings: { ...wal.settings, wal_dir: dir }, log });
    const run = async () => (await readArchive(dir)).runs.at(-1);
    const covered = async () => {
      const found = await run();
      return found && coverageOf(found);
    };
    await until(async () => (await covered()) !== undefined, 60_000);
    // Room for less than a segment is left.
    const ballast = join(dir, "ballast");
    const { bavail, bsize } = statfsSync(dir);
    writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - 8_000_000)));
    for (let n = 0; n < 3; n += 1) await wal.fillSegment();
    await wal.insert(3);
    const at = await wal.now();
    await until(() => failures.some((error) => error.includes("ENOSPC")), 60_000);
    assert.ok(((await covered())?.until ?? at) < at);
    const later = { now: Date.now() + 3_600_000, maxAgeMs: 900_000 };
    assert.match(
      (await readWalStatus({ dir, enabled: true, ...later })).stale ?? "",
      /^nothing was received since/,
    );
    // No slot makes the server keep its log for an archive that cannot take it.
    const slots = await wal.sql("select slot_name from pg_replication_slots where not temporary");
    assert.deepEqual(slots, []);
    await wal.insert(4);
    rmSync(ballast);
    await until(async () => ((await covered())?.until ?? new Date(0)) >= at, 60_000);
    assert.equal((await readArchive(dir)).runs.length, 1);
    await archive.close();
    const { path } = await wal.recoverFrom(
      { walDir: dir, bundleDir: wal.bundleDir, scratchDir: wal.dir },
      at,
    );
    assert.deepEqual(accountsOf(path), ["1", "2", "3"]);
  } finally {
    await archive?.close();
    execFileSync("umount", ["--lazy", dir]);
  }
});
