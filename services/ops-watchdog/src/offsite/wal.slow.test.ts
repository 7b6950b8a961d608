// Copies of the log of a real PostgreSQL in a strict S3 server, and recovery from them alone.

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { generateKey } from "@svc/sealed";
import { type Host, type OffsiteFixture, openOffsiteFixture } from "../testing/offsite-fixture.ts";
import { accountsOf, startWalFixture, type WalFixture } from "../testing/wal-fixture.ts";
import type { FetchedWal } from "./fetch-wal.ts";
import type { PassResult } from "./pass.ts";
import type { Verified } from "./verify-copies.ts";
import { keyOfWal, walOfKey } from "./wal-key.ts";
import { readWalState } from "./wal-state.ts";

let fixture: OffsiteFixture;
let wal: WalFixture;
let host: Host;
let fresh: Host;
let freshDir: string;
let archive: { close: () => Promise<void> } | undefined;
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
  if (freshDir) rmSync(freshDir, { recursive: true, force: true });
});
beforeEach(async () => {
  await fixture.reset();
  hosts += 1;
  if (freshDir) rmSync(freshDir, { recursive: true, force: true });
  freshDir = mkdtempSync(join(tmpdir(), "svc-wal-fresh-"));
  host = fixture.addHost(`wal-host-${hosts}`, settingsOf(wal.walDir));
  fresh = fixture.addHost(`wal-fresh-${hosts}`, settingsOf(freshDir));
  await host.run({ do: "back-up", label: "daily" });
});

const settingsOf = (dir: string) => ["ops_watchdog.wal_archive=true", `ops_watchdog.wal_dir=${dir}`];
const walKeys = () => fixture.s3.keys().filter((key) => walOfKey(key));
const keysOf = (kind: string) => walKeys().filter((key) => walOfKey(key)?.kind === kind);
const sendLog = () => host.run<PassResult>({ do: "offsite-sync-wal" });
const fetchLog = (at?: Date) => fresh.run<FetchedWal>({ do: "offsite-fetch-wal", ...(at && { at }) });

async function completed(): Promise<PassResult["report"]> {
  const { state, report } = await host.sync();
  assert.equal(state, "completed", JSON.stringify(report));
  return report;
}

async function sent(): Promise<PassResult["report"]> {
  const { state, report } = await sendLog();
  assert.equal(state, "completed", JSON.stringify(report));
  return report;
}

/** Adds an account and waits until it is in the local archive; the time at which it was there. */
async function write(): Promise<Date> {
  await wal.insert(++ids);
  const at = await wal.now();
  await wal.isCovered(at);
  return at;
}

const expected = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));

/** What the copies alone bring back on an empty machine. */
async function assertRecovered(at: Date, count: number): Promise<void> {
  const bundleDir = join(freshDir, "bundles");
  const { path } = await wal.recoverFrom({ walDir: freshDir, bundleDir }, at);
  assert.deepEqual(accountsOf(path), expected(count));
}

describe("the log in the bucket", () => {
  test("brings back any time on an empty machine, between two passes too", async () => {
    const first = await write();
    await wal.fillSegment();
    const count = ids;
    const second = await write();
    const { wal_copies: copies } = await completed();
    assert.deepEqual([copies?.missing, copies?.not_whole, copies?.objects], [[], [], walKeys().length]);
    const third = await write();
    await sent();
    const fetched = await fetchLog();
    assert.deepEqual([fetched.failures, fetched.runs.length], [[], 1]);
    await assertRecovered(first, count);
    await assertRecovered(second, count + 1);
    await assertRecovered(third, count + 2);
    // Everything is in place.
    assert.equal((await fetchLog()).fetched, 0);
  });

  test("brings back one time without the rest of it", async () => {
    await completed();
    const at = await write();
    const count = ids;
    for (let n = 0; n < 3; n += 1) await wal.fillSegment();
    await write();
    await sent();
    const fetched = await fetchLog(at);
    assert.deepEqual(fetched.failures, []);
    await assertRecovered(at, count);
    await assert.rejects(fetchLog(new Date(Date.now() + 3_600_000)), /covered is from .* until /);
  });

  test("is not set back by a machine that fetched a part of it and took over", async () => {
    await completed();
    const at = await write();
    await wal.fillSegment();
    const later = await write();
    await sent();
    await fetchLog(at);
    await fresh.run({ do: "back-up", label: "daily" });
    await fresh.run({ do: "offsite-take-over", apply: true });
    const { state, report } = await fresh.sync();
    assert.equal(state, "completed", JSON.stringify(report));
    assert.equal((await fetchLog(later)).runs.length, 1);
  });

  test("loses no more than what was committed since the last pass of the log", async () => {
    await completed();
    await wal.insert(++ids);
    const committed = performance.now();
    const at = await wal.now();
    await until(async () => {
      await sent();
      const state = await readWalState(host.stateDir);
      return Object.values(state?.runs ?? {}).some((run) => Date.parse(run.until) >= at.getTime());
    }, 60_000);
    const seconds = (performance.now() - committed) / 1_000;
    // Received within a second, marked every five, with a second of slack, and two passes.
    assert.ok(seconds < 20, `${seconds.toFixed(1)} s`);
  });

  test("with nothing new is listed and left alone", async () => {
    await completed();
    await archive?.close();
    await sent();
    fixture.s3.requests.length = 0;
    const { sent: count } = await sent();
    archive = wal.archive();
    assert.equal(count, 0);
    assert.ok(fixture.s3.requests.length <= 8, String(fixture.s3.requests.length));
  });

  test("is not sent before a whole pass, by another host, or under a key that is not named", async () => {
    await sent();
    assert.deepEqual(fixture.s3.keys(), []);
    await completed();
    const other = fixture.addHost(`wal-other-${hosts}`, settingsOf(wal.walDir));
    assert.equal((await other.run<PassResult>({ do: "offsite-sync-wal" })).state, "standby");
    const before = walKeys();
    await write();
    const next = generateKey();
    const keys = [next, fixture.key];
    const about = await host.run<PassResult>({ do: "offsite-sync-wal" }, { keys });
    assert.deepEqual([about.state, about.report.sent, walKeys()], ["completed", 0, before]);
    const wrong = await host.run<PassResult>({ do: "offsite-sync-wal" }, { keys: [next] });
    assert.equal(wrong.state, "wrong_key");
  });

  test("is sealed again after a rotation, and read with the new key alone", async () => {
    const at = await write();
    const count = ids;
    await completed();
    const next = generateKey();
    await until(async () => {
      const { state } = await host.sync({ keys: [next, fixture.key] });
      assert.equal(state, "completed");
      return fixture.s3.bytesOf("svc-key-id").toString() === `${next.id}\n`;
    }, 60_000);
    await fresh.run({ do: "offsite-fetch-wal", at }, { keys: [next] });
    await assertRecovered(at, count);
    await assert.rejects(fetchLog(at));
  });
});

describe("what is wrong in the bucket", () => {
  test("a segment that is missing is named, and sent again from here", async () => {
    await wal.fillSegment();
    const at = await write();
    await completed();
    const segment = keysOf("segment").at(-1) ?? "";
    fixture.s3.remove(segment);
    const { failures, runs } = await fetchLog(at);
    assert.deepEqual([failures.length, runs], [1, []]);
    assert.match(failures[0]?.error ?? "", /is not in the bucket/);
    const before = await readWalState(host.stateDir);
    await write();
    // Until it is there nothing later counts.
    fixture.s3.faults.add({ do: "refuse", status: 503, code: "SlowDown", retryAfter: "0", key: segment });
    await sendLog();
    fixture.s3.faults.clear();
    assert.deepEqual((await readWalState(host.stateDir))?.runs, before?.runs);
    await sent();
    assert.equal((await fetchLog(at)).runs.length, 1);
  });

  test("a damaged or exchanged object is named, never used, and sent again from here", async () => {
    for (let n = 0; n < 2; n += 1) await wal.fillSegment();
    const at = await write();
    await completed();
    const [first = "", second = ""] = keysOf("segment").slice(-2);
    const [good, other] = [fixture.s3.bytesOf(first), fixture.s3.bytesOf(second)];
    const damaged = Buffer.from(good);
    damaged.writeUInt8(damaged.readUInt8(70_000) ^ 1, 70_000);
    for (const [bytes, problem] of [
      [damaged, /./],
      [other, /under another name; the bucket was changed from outside/],
    ] as const) {
      fixture.s3.replace(first, bytes);
      const { failures, runs } = await fetchLog();
      assert.deepEqual([failures.length, runs], [1, []]);
      assert.match(failures[0]?.error ?? "", problem);
      assert.ok(!existsSync(join(freshDir, walOfKey(first)?.path ?? "")));
      const verified = await host.run<Verified>({ do: "offsite-verify" });
      assert.deepEqual(
        verified.damaged.map(({ key, repaired }) => [key, repaired]),
        [[first, true]],
      );
    }
    await fetchLog(at);
    // How far it is cannot be told from a damaged object: the next pass writes it again.
    const received = keysOf("received")[0] ?? "";
    const whole = fixture.s3.bytesOf(received);
    fixture.s3.replace(received, whole.subarray(0, whole.length - 1));
    const unread = await fetchLog();
    assert.deepEqual([unread.failures.length, unread.runs], [1, []]);
    await host.run<Verified>({ do: "offsite-verify" });
    await sent();
    assert.equal((await fetchLog()).runs.length, 1);
  });

  test("a local file that rotted does not become a copy, and ends the coverage", async () => {
    await completed();
    await wal.fillSegment();
    await write();
    const run = (await wal.runs()).at(-1) ?? assert.fail();
    const name = run.segments.at(-1)?.name ?? assert.fail();
    const path = join(run.path, "wal", name);
    const good = readFileSync(path);
    const rotten = Buffer.from(good);
    rotten.writeUInt8(rotten.readUInt8(9_000) ^ 1, 9_000);
    writeFileSync(path, rotten);
    const { state, report } = await sendLog();
    assert.equal(state, "incomplete");
    const key = keyOfWal(`${run.name}/wal/${name}`);
    assert.deepEqual(
      report.failures.map((one) => [one.key, one.error]),
      [[key, "its digest is not the recorded one"]],
    );
    assert.ok(!fixture.s3.keys().includes(key));
    const before = (await readWalState(host.stateDir))?.runs[run.name]?.until ?? "";
    writeFileSync(path, good);
    // The upload that the other bytes began ends first.
    await sendLog();
    await sent();
    const now = (await readWalState(host.stateDir))?.runs[run.name]?.until ?? "";
    assert.ok(now > before, `${now} ${before}`);
  });

  type Fault = Parameters<OffsiteFixture["s3"]["faults"]["add"]>[0];
  const put = { on: "put", key: /^wal/ } as const;
  const faults: [fact: string, fault: Fault][] = [
    ["refuses with 503", { ...put, do: "refuse", status: 503, code: "SlowDown", retryAfter: "0" }],
    ["cuts the connection", { ...put, do: "cut", afterBytes: 100 }],
    ["loses the object", { ...put, do: "lose-object" }],
    ["lies about the size", { do: "wrong-size", by: -1, on: "head", key: /^wal/ }],
  ];
  for (const [fact, fault] of faults) {
    test(`a store that ${fact} gets nothing counted, and the next pass succeeds`, async () => {
      await completed();
      const before = await readWalState(host.stateDir);
      const at = await write();
      fixture.s3.faults.add(fault);
      const { state, report } = await sendLog();
      assert.ok(state === "incomplete" || state === "failed", JSON.stringify(report));
      assert.deepEqual((await readWalState(host.stateDir))?.runs, before?.runs);
      fixture.s3.faults.clear();
      await sent();
      assert.equal((await fetchLog(at)).runs.length, 1);
    });
  }
});

test("a folder that is the copy of another machine goes on without a gap where the log is still there", async () => {
  await write();
  await completed();
  await fetchLog();
  const run = readdirSync(freshDir).find((name) => name.startsWith("run-")) ?? "";
  cpSync(join(freshDir, run), join(freshDir, "kept"), { recursive: true });
  const second = wal.archive({ settings: { ...wal.settings, wal_dir: freshDir } });
  await archive?.close();
  archive = undefined;
  await until(() => {
    const names = readdirSync(freshDir).filter((name) => name.startsWith("run-"));
    assert.deepEqual(names, [run]);
    const text = readFileSync(join(freshDir, run, "received.json"), "utf8");
    return text !== readFileSync(join(freshDir, "kept", "received.json"), "utf8");
  }, 60_000);
  await second.close();
  archive = wal.archive();
});
