// The pages about the platform itself: its updates and its health.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { type alerts as alertContracts, offsites } from "@svc/proto";
import pg from "pg";
import { openStateFile } from "../../services/ops-watchdog/src/watchdog/state-file.ts";
import { health } from "../../services/panel/src/words/en/health.ts";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Stack } from "../flow/stack.ts";
import type { Area, Fixture } from "./fixture.ts";
import { intercept, type Person } from "./person.ts";

const { alerts, bundles, offsite, platformHealth, updates } = health;

async function query({ stack }: Fixture, text: string, values: unknown[]): Promise<void> {
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  await client.query(text, values).finally(() => client.end());
}

const components = [
  { name: "platform", state: "current", current: "0.1.0", selector: "--platform" },
  {
    name: "postgresql",
    state: "available",
    current: "18.4",
    latest: "18.5",
    selector: "--postgresql",
    note: "18.5 repairs a crash.",
  },
  { name: "nats", state: "unknown", current: "2.12.1", selector: "--nats" },
  { name: "node", state: "pinned", current: "24.11.0", selector: "--node" },
  { name: "kubernetes", state: "unreadable", selector: "--kubernetes", error: "the API server answered 403" },
];

/** Stores a report as a check does. */
const report = (fixture: Fixture, at: Date) =>
  query(
    fixture,
    "insert into ops_watchdog.update_reports (checked_at, version, components) values ($1, '0.1.0', $2)",
    [at, JSON.stringify(components)],
  );

const hourMs = 3_600_000;
const local = (at: number) => new Date(at).toISOString().slice(0, 16);

/** Off-site copies while worlds are sent. */
function runningPass(): unknown {
  const at = new Date().toISOString();
  const none = { missing: [], missing_count: 0, not_whole: [], not_whole_count: 0 };
  const world = (n: number) => `worlds/survival-176389200${n}000000000.tar.zst.sealed`;
  const worlds = {
    missing: [world(1), world(2)],
    missing_count: 2,
    not_whole: [world(3)],
    not_whole_count: 1,
  };
  const packed = { copies: 30, whole_bytes: 12 * 2 ** 30, packs: 6, bytes: 3 * 2 ** 30 };
  const progress = { kind: "worlds", objects_done: 3, objects_total: 5, bytes_done: 3e9, bytes_total: 5e9 };
  const failures = [{ key: world(1), error: "the store answered put with 503" }];
  return {
    ...{
      configured: true,
      bucket: "copies",
      key_id: "00112233aabbccdd",
      stale: false,
      max_age_seconds: 43_200,
      packs: "on",
    },
    writer: { host_id: "0".repeat(32), name: "play.example.net", last_run_at: at, is_this_host: true },
    store: {
      ...{ conditional_put: true, versioning: "enabled", object_lock: "compliance", object_lock_days: 30 },
      clock_ahead_seconds: 1_200,
    },
    last: {
      ...{ state: "running", started_at: at, sent: 3, sent_bytes: 3e9, deleted: 0, failed: 1, failures },
      progress: { ...progress, eta_seconds: 240 },
    },
    last_completed_at: at,
    kinds: [
      { kind: "db", objects: 12, bytes: 3e7, ...none },
      { kind: "worlds", objects: 40, bytes: 9e9, ...worlds, packed },
      { kind: "images", objects: 7, bytes: 2e9, ...none },
      { kind: "uploads", objects: 1, bytes: 5e6, ...none },
    ],
  };
}

type AlertStatus = alertContracts.AlertStatus;

async function alertOf(owner: Person, key: string): Promise<AlertStatus["alerts"][number]> {
  const { body } = await owner.request("GET", "/platform/alerts");
  return (body as AlertStatus).alerts.find((alert) => alert.key === key) ?? assert.fail(`there is no ${key}`);
}

/** An alert fires ten minutes after it was first seen; this moves the clock. */
async function age(stack: Stack, key: string): Promise<void> {
  const dir = join(stack.dataDir, "watchdog");
  const file = openStateFile({ dir, copyDir: join(dir, "copy"), now: Date.now });
  await file.update((state) => {
    const alert = state.alerts[key];
    if (!alert) return undefined;
    return { ...state, alerts: { ...state.alerts, [key]: { ...alert, first_seen: Date.now() - hourMs } } };
  });
}

export const addHealthTests: Area = (fixture) => {
  test("staff see which components have an update, and that a report is old", async () => {
    const { owner, addressOf, inspect } = fixture();
    await report(fixture(), new Date(Date.now() - 30 * hourMs));
    await owner.open(addressOf("admin_host", "/admin/updates"));
    await owner.sees(updates.stale(26));
    await report(fixture(), new Date());
    await owner.open(addressOf("admin_host", "/admin/updates"));
    await owner.sees(updates.available(1));
    await owner.sees("svc update --postgresql");
    await owner.sees(updates.noFeed("ops_watchdog.feed_nats"));
    await owner.seesNo(updates.stale(26));
    await inspect(owner, "updates");
  });

  test("an update window is set, cleared and taken back", async () => {
    const { owner } = fixture();
    const { page } = owner;
    const begins = Math.ceil(Date.now() / hourMs) * hourMs + 24 * hourMs;
    await owner.press("button", updates.set);
    await owner.sees(updates.problems.missing);
    // The browser of the lane is in the zone of the machine.
    const shift = await page.evaluate((at: number) => new Date(at).getTimezoneOffset() * 60_000, begins);
    await owner.pick("start", local(begins - shift));
    await owner.pick("end", local(begins - shift - hourMs));
    await owner.press("button", updates.set);
    await owner.sees(updates.problems["not-after"]);
    await owner.pick("end", local(begins - shift + 2 * hourMs));
    await owner.press("button", updates.set);
    await owner.sees(updates.windowStates.planned);
    const isSet = async () => {
      const { body } = await owner.request("GET", "/updates/window");
      return body;
    };
    const window = {
      start: new Date(begins).toISOString(),
      end: new Date(begins + 2 * hourMs).toISOString(),
    };
    assert.deepEqual(await isSet(), window);
    await owner.press("button", updates.clear);
    await owner.sees(updates.noWindow);
    await owner.press("button", en.schedules.undo);
    await owner.sees(updates.windowStates.planned);
    assert.deepEqual(await isSet(), window);
  });

  test("staff see the bundles of the database and whether one was restored as a rehearsal", async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    const taken = await stack.svc("db", "backup");
    assert.equal(taken.code, 0, taken.stderr);
    await owner.open(addressOf("admin_host", "/admin/updates"));
    await owner.sees(bundles.labels.manual);
    await owner.sees(bundles.whole);
    await owner.sees(bundles.notRehearsed);
    await inspect(owner, "updates-bundles");
    await owner.open(addressOf("admin_host", "/admin/health"));
    await owner.sees(offsite.help["not-configured"]);
    await inspect(owner, "health");
  });

  // A pass with worlds under way, missing and broken ones at once would take a store of several hosts and days of passes; what reads
  // and counts one is tested with a real store (tests of the offsite folder of ops-watchdog). Here its answer is made.
  test("staff see the off-site copies of each kind, what is missing, and how far a pass is", async () => {
    const { owner, addressOf, inspect } = fixture();
    const body = JSON.stringify(offsites.OffsiteStatus.parse(runningPass()));
    const restore = await intercept(owner.page, (request) => {
      if (!request.url().endsWith("/platform/offsite")) return false;
      void request.respond({ status: 200, contentType: "application/json", body });
      return true;
    });
    await owner.open(addressOf("admin_host", "/admin/health"));
    for (const kind of Object.values(offsite.kinds)) await owner.sees(kind);
    await owner.sees(offsite.states.running);
    await owner.sees(offsite.missing(2));
    await owner.sees(offsite.notWhole(1));
    await owner.sees(offsite.inPacks(30, 6, "3 GiB"));
    await owner.sees(offsite.savedByPacks("9 GiB", "12 GiB"));
    await owner.sees(offsite.packsAre.on);
    await owner.sees(offsite.failures(1));
    await owner.sees(offsite.versioning.enabled);
    await owner.sees(offsite.clockAhead(20));
    await inspect(owner, "health-offsite");
    await restore();
  });

  test("an alert leads the overview of staff, and is acknowledged and silenced", async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    const key = "db-backup/stale";
    const isFiring = async () => {
      await age(stack, key);
      await stack.svc("watchdog");
      const { body } = await owner.request("GET", "/platform/alerts");
      return (body as AlertStatus).alerts.some((alert) => alert.key === key && alert.state === "firing");
    };
    await until(isFiring, 60_000, `${key} to fire`);
    await owner.open(addressOf("admin_host", "/"));
    await owner.sees(alerts.states.critical);
    await owner.press("link", platformHealth.details);
    await owner.isAt("/admin/health");
    const { summary } = await alertOf(owner, key);
    await owner.press("button", alerts.acknowledgeOf(summary.en));
    await owner.fill(alerts.note, "taking one by hand");
    await owner.press("button", alerts.acknowledgeAction);
    await owner.sees("taking one by hand");
    await owner.press("button", alerts.silenceOf(summary.en));
    await owner.press("button", alerts.silenceAction);
    await owner.sees(alerts.reasonMissing);
    await inspect(owner, "health-silence");
    await owner.fill(alerts.reason, "the disk is being changed");
    await owner.press("button", alerts.silenceAction);
    await owner.sees("the disk is being changed");
    await inspect(owner, "health-alerts");
    await owner.press("button", alerts.endSilenceOf(key));
    await owner.seesNo("the disk is being changed");
    await owner.page.locator(`::-p-xpath(//summary[contains(., "${alerts.history}")])`).click();
    await owner.sees(alerts.happened.silence_ended);
    const { acknowledged, silenced_until } = await alertOf(owner, key);
    assert.deepEqual([acknowledged?.note, silenced_until], ["taking one by hand", undefined]);
  });
};
