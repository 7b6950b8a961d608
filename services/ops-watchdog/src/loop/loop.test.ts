import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { testProgram } from "@svc/config/test-program";
import type { Store } from "@svc/store";
import type { TestDatabase } from "@svc/store/testing";
import { createLogger, createRegistry } from "@svc/telemetry";
import { readStatus } from "../bundle/status.ts";
import { settings as schema } from "../config.ts";
import type { Tables } from "../database.ts";
import { createWatchdogDatabase } from "../testing/fixture.ts";
import { newestReport } from "../update/report.ts";
import { type DailyFacts, isDailyDue } from "./due.ts";
import { createRound } from "./loop.ts";
import { createMetrics } from "./metrics.ts";
import { createRunProgram, type RunProgram } from "./run-program.ts";

describe("when a daily task is due", () => {
  const at = (text: string) => Date.parse(`2026-11-${text}Z`);
  const facts = (now: string, last?: string, attempt?: string): DailyFacts => ({
    now: at(now),
    at: "03:30",
    jitterMs: 600_000,
    retryMs: 3_600_000,
    lastSuccess: last === undefined ? undefined : at(last),
    lastAttempt: attempt === undefined ? undefined : at(attempt),
  });
  const table: [fact: string, facts: DailyFacts, isDue: boolean][] = [
    ["at once when it was never done", facts("22T12:00:00"), true],
    ["not again on the same day", facts("22T12:00:00", "22T03:41:00"), false],
    ["not before its time", facts("22T03:39:59", "21T03:41:00"), false],
    ["at its time with the delay of the installation", facts("22T03:40:00", "21T03:41:00"), true],
    ["after a night that was missed", facts("22T12:00:00", "20T03:41:00"), true],
    ["not within an hour of a failure", facts("22T04:39:59", "21T03:41:00", "22T03:40:00"), false],
    ["an hour after a failure", facts("22T04:40:00", "21T03:41:00", "22T03:40:00"), true],
    [
      "when the clock was set back behind a failure",
      facts("22T04:00:00", "21T03:41:00", "23T00:00:00"),
      true,
    ],
  ];
  for (const [fact, given, isDue] of table) test(fact, () => assert.equal(isDailyDue(given), isDue));
});

describe("a round", () => {
  let database: TestDatabase;
  let store: Store<Tables>;
  const dir = mkdtempSync(join(tmpdir(), "svc-loop-"));
  const overrides = [`ops_watchdog.bundle_dir=${join(dir, "bundles")}`];
  const { ops_watchdog: settings, offsite } = loadSettings(schema, { overrides });
  const { signal } = new AbortController();
  before(async () => {
    database = await createWatchdogDatabase();
    store = database.open<Tables>();
    await database.admin("grant pg_read_all_data to svc_ops_watchdog");
  });
  after(async () => {
    await store?.close();
    await database?.drop();
    rmSync(dir, { recursive: true, force: true });
  });
  const rounds = (run: RunProgram, clock: { now: number }) => {
    const registry = createRegistry("test", "0");
    const log = createLogger("test", "silent");
    const metrics = createMetrics(registry);
    const deps = {
      db: store.db,
      url: database.url,
      settings,
      offsite,
      run,
      metrics,
      now: () => clock.now,
      log,
    };
    return { round: createRound(deps).round, registry };
  };

  test("a failed bundle is counted and repeated after an hour, not before", async () => {
    const clock = { now: Date.now() };
    const asked: string[] = [];
    const { round, registry } = rounds(async (command) => {
      asked.push(command.do);
      throw new Error("the disk is full");
    }, clock);
    await round(signal);
    await round(signal);
    assert.deepEqual(asked, ["back-up", "check-updates"]);
    clock.now += 3_600_000;
    await round(signal);
    assert.equal(asked.length, 4);
    const text = await registry.metrics();
    assert.match(text, /svc_watchdog_task_failures_total\{task="daily-bundle"[^}]*\} 2/);
    assert.match(text, /svc_watchdog_task_failures_total\{task="verification"[^}]*\} 0/);
    assert.match(text, /svc_db_backup_last_success_timestamp_seconds\S* 0\n/);
  });

  test("takes a bundle as the service's own role and stores a report, once", async () => {
    const real = createRunProgram({
      configFile: undefined,
      program: testProgram(resolve(import.meta.dirname, "../testing/host-main.ts")),
      overrides: [...overrides, 'ops_watchdog.pinned=["nats"]'],
    });
    const { env } = process;
    env["SVC_DATABASE_URL"] = database.url;
    let count = 0;
    const clock = { now: Date.now() };
    const { round, registry } = rounds((command, stop) => {
      count += 1;
      return real(command, stop);
    }, clock);
    await round(signal);
    await round(signal);
    // The third is the rehearsal.
    assert.equal(count, 3);
    const status = await readStatus({ db: store.db, maxAgeMs: settings.bundle_max_age, now: Date.now });
    assert.equal(status.stale, false);
    assert.equal(status.last?.label, "daily");
    assert.match(status.last?.servers_error ?? "", /cannot be read/);
    assert.ok(existsSync(join(settings.bundle_dir, status.last?.name ?? "")));
    const report = await newestReport(store.db);
    assert.match(report?.components.find(({ name }) => name === "postgresql")?.current ?? "", /^\d+\.\d+/);
    assert.doesNotMatch(await registry.metrics(), /svc_db_backup_last_success_timestamp_seconds\S* 0\n/);
  });

  test("reads each bundle once a week; one that rotted counts no more and is shown", async () => {
    const real = createRunProgram({ configFile: undefined, overrides });
    const [name = ""] = readdirSync(settings.bundle_dir).filter((one) => one.endsWith(".tar"));
    const path = join(settings.bundle_dir, name);
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    writeFileSync(path, bytes);
    const day = 86_400_000;
    const clock = { now: Date.now() + 6 * day };
    const verified: string[] = [];
    const { round, registry } = rounds(async (command, stop) => {
      if (command.do !== "verify") throw new Error("not in this test");
      verified.push(command.bundle ?? "");
      return real(command, stop);
    }, clock);
    const read = () => readStatus({ db: store.db, maxAgeMs: 100 * day, now: () => clock.now });
    await round(signal);
    assert.deepEqual([verified, (await read()).last?.name], [[], name]);
    clock.now += 2 * day;
    await round(signal);
    await round(signal);
    assert.equal(verified[0], name);
    const { last, stale } = await read();
    assert.deepEqual([last, stale], [null, true]);
    assert.match(await registry.metrics(), /svc_db_backup_damaged_bundles\S* 1\n/);
  });
});
