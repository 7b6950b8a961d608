import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BackupRow } from "../database/tables.ts";
import { aBackup, at, aWorld, now } from "../testing/reaper/facts.ts";
import {
  decideVolume,
  decideWorld,
  idleMs,
  type Outcome,
  type WorldPlan,
  type WorldServer,
} from "./policy.ts";

const day = 86_400_000;
const hour = day / 24;
const warnBefore = [3 * day, day];
const idleFor = (ms: number) => ({ last_active_at: at(now - ms) });
const retiring = { requested_at: at(now), delete: false };
const goesIn = (ms: number) => idleFor(idleMs - ms);

describe("the verdict on a world", () => {
  const reclaimed: WorldPlan = { kind: "reap", outcome: "reclaimed", reason: "inactive_15d" };
  const leave: WorldPlan = { kind: "leave" };
  const warn = (window: "3d" | "1d", ms: number): WorldPlan => ({ kind: "warn", window, goesAt: now + ms });
  const rows: [fact: string, world: Partial<WorldServer>, verdict: WorldPlan][] = [
    ["an active world is left alone", idleFor(day), leave],
    ["a world idle for exactly 15 days is left one more day", idleFor(idleMs), warn("1d", 0)],
    ["a world idle for a moment more is reclaimed", idleFor(idleMs + 1), reclaimed],
    ["so is one that nobody owns", { ...idleFor(idleMs + 1), owner_id: undefined }, reclaimed],
    ["an exempt world is left alone however idle", { ...idleFor(90 * day), reaper_exempt: true }, leave],
    ["a system server is left alone however idle", { ...idleFor(90 * day), system: true }, leave],
    ["an exempt world is left alone even when it is given up", { reaper_exempt: true, retiring }, leave],
    ["a row whose object is gone is left alone", { ...idleFor(90 * day), exists: false }, leave],
    ["one that was only given up is left alone too", { exists: false, retiring }, leave],
    [
      "a deletion whose object is gone is looked after",
      { exists: false, retiring: { ...retiring, delete: true } },
      { kind: "orphan" },
    ],
    [
      "a world given up is released, however active",
      { ...idleFor(0), retiring },
      { kind: "reap", outcome: "released", reason: "released" },
    ],
    [
      "a deletion archives the world as released",
      { ...idleFor(0), retiring: { ...retiring, delete: true } },
      { kind: "reap", outcome: "deleted", reason: "released" },
    ],
    [
      "an idle world that is given up is released",
      { ...idleFor(90 * day), retiring },
      { kind: "reap", outcome: "released", reason: "released" },
    ],
    ["nobody is warned more than 3 days before", goesIn(3 * day + 1), leave],
    ["the owner is warned 3 days before", goesIn(3 * day), warn("3d", 3 * day)],
    ["and 1 day before", goesIn(day), warn("1d", day)],
    ["inside both windows the nearer one is told", goesIn(hour), warn("1d", hour)],
    ["nobody is warned of a world without owner", { ...goesIn(hour), owner_id: undefined }, leave],
    ["a warning is told once", { ...goesIn(2 * day), warned_3d_at: at(now - hour) }, leave],
    [
      "the second one comes besides the first",
      { ...goesIn(hour), warned_3d_at: at(now - 2 * day) },
      warn("1d", hour),
    ],
    ["the first is not told after the second", { ...goesIn(hour), warned_1d_at: at(now - hour) }, leave],
    [
      "a stamp of an earlier time of idleness does not count",
      { ...goesIn(2 * day), warned_3d_at: at(now - 40 * day) },
      warn("3d", 2 * day),
    ],
  ];
  for (const [fact, world, verdict] of rows) {
    test(fact, () => assert.deepEqual(decideWorld(aWorld(world), { now, warnBefore }), verdict));
  }

  test("without windows nobody is warned", () => {
    assert.deepEqual(decideWorld(aWorld(goesIn(hour)), { now, warnBefore: [] }), leave);
  });

  test("with one window it is the last one", () => {
    assert.deepEqual(decideWorld(aWorld(goesIn(hour)), { now, warnBefore: [2 * hour] }), warn("1d", hour));
  });
});

describe("the verdict on a volume", () => {
  const since = { last_active_at: at(now - 20 * day), claimed_at: at(now - 30 * day) };
  const made = (ms: number, about: Partial<BackupRow> = {}) =>
    aBackup({ reason: "inactive_15d", created_at: new Date(now - ms), ...about });
  const fresh = made(day);
  type Row = [
    fact: string,
    about: { outcome?: Outcome; hasVolume: boolean; backups?: BackupRow[]; world?: Partial<WorldServer> },
    kind: string,
  ];
  const rows: Row[] = [
    ["a world without archive is archived", { hasVolume: true }, "archive"],
    ["an archive since the last activity may be used again", { hasVolume: true, backups: [fresh] }, "reuse"],
    ["one from before it may not", { hasVolume: true, backups: [made(21 * day)] }, "archive"],
    [
      "one from before the claim may not",
      { hasVolume: true, backups: [fresh], world: { claimed_at: at(now - day / 2) } },
      "archive",
    ],
    [
      "a corrupt one may not",
      { hasVolume: true, backups: [made(day, { corrupt_at: new Date(now) })] },
      "archive",
    ],
    [
      "one that was given up may not",
      { hasVolume: true, backups: [made(day, { status: "expired" })] },
      "archive",
    ],
    [
      "one of a former owner may not",
      { hasVolume: true, backups: [made(day, { former_owner: "usr-2" })] },
      "archive",
    ],
    [
      "an owner's own backup may not",
      { hasVolume: true, backups: [made(day, { reason: "manual" })] },
      "archive",
    ],
    [
      "a restore point may not",
      { hasVolume: true, backups: [made(day, { reason: "scheduled" })] },
      "archive",
    ],
    [
      "what is given up has an archive of its own reason",
      { outcome: "released", hasVolume: true, backups: [fresh] },
      "archive",
    ],
    [
      "which may be used again",
      { outcome: "deleted", hasVolume: true, backups: [made(day, { reason: "released" })] },
      "reuse",
    ],
    ["an archived world that is gone is only released", { hasVolume: false, backups: [fresh] }, "finish"],
    [
      "so is one whose owner gave it up meanwhile",
      { outcome: "released", hasVolume: false, backups: [fresh] },
      "finish",
    ],
    [
      "nobody's server without world and archive begins its idle time anew",
      { hasVolume: false, world: { owner_id: undefined } },
      "restart-clock",
    ],
    ["somebody's is released", { hasVolume: false }, "release"],
    ["an old archive does not change that", { hasVolume: false, backups: [made(21 * day)] }, "release"],
    [
      "nobody's server without world is still deleted",
      { outcome: "deleted", hasVolume: false, world: { owner_id: undefined } },
      "release",
    ],
  ];
  for (const [fact, { outcome = "reclaimed", hasVolume, backups = [], world }, kind] of rows) {
    test(fact, () => {
      const verdict = decideVolume(aWorld({ ...since, ...world }), { outcome, hasVolume, backups });
      assert.equal(verdict.kind, kind);
    });
  }
});

test("2,000 due worlds are judged in far less than 10 s", () => {
  const worlds = Array.from({ length: 2_000 }, (_, i) => aWorld({ name: `w-${i}`, ...idleFor(20 * day) }));
  const backups = Array.from({ length: 20 }, () => aBackup({ reason: "inactive_15d" }));
  const startedAt = performance.now();
  const due = worlds.filter((world) => decideWorld(world, { now, warnBefore }).kind === "reap");
  for (const world of due) decideVolume(world, { outcome: "reclaimed", hasVolume: true, backups });
  assert.equal(due.length, 2_000);
  assert.ok(performance.now() - startedAt < 1_000);
});
