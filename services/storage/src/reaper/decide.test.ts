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
} from "./decide.ts";

const day = 86_400_000;
const hour = day / 24;
const warnBefore = [3 * day, day];
const idleFor = (ms: number) => ({ last_active_at: at(now - ms) });
const retiring = { requested_at: at(now), delete: false };
const goesIn = (ms: number) => idleFor(idleMs - ms);

describe("what is done with a world", () => {
  const reclaimed: WorldPlan = { kind: "reap", outcome: "reclaimed", reason: "inactive_15d" };
  const leave: WorldPlan = { kind: "leave" };
  const warn = (window: "3d" | "1d", ms: number): WorldPlan => ({ kind: "warn", window, goesAt: now + ms });
  const rows: [fact: string, world: Partial<WorldServer>, verdict: WorldPlan][] = [
    ["an active world is kept", idleFor(day), leave],
    ["a world idle for exactly 15 days is kept for one more run", idleFor(idleMs), warn("1d", 0)],
    ["a world idle for longer is archived", idleFor(idleMs + 1), reclaimed],
    ["so is a world without an owner", { ...idleFor(idleMs + 1), owner_id: undefined }, reclaimed],
    ["an exempt world is kept however long it is idle", { ...idleFor(90 * day), reaper_exempt: true }, leave],
    ["a system server is kept however long it is idle", { ...idleFor(90 * day), system: true }, leave],
    ["an exempt world is kept even when it is given up", { reaper_exempt: true, retiring }, leave],
    ["a row whose object is gone is skipped", { ...idleFor(90 * day), exists: false }, leave],
    ["a row of a server that was only given up is skipped too", { exists: false, retiring }, leave],
    [
      "a deletion whose object is gone is completed",
      { exists: false, retiring: { ...retiring, delete: true } },
      { kind: "orphan" },
    ],
    [
      "a world that is given up is released, however active",
      { ...idleFor(0), retiring },
      { kind: "reap", outcome: "released", reason: "released" },
    ],
    [
      "a deletion archives the world with reason `released`",
      { ...idleFor(0), retiring: { ...retiring, delete: true } },
      { kind: "reap", outcome: "deleted", reason: "released" },
    ],
    [
      "an idle world that is given up is released",
      { ...idleFor(90 * day), retiring },
      { kind: "reap", outcome: "released", reason: "released" },
    ],
    ["no warning more than 3 days before", goesIn(3 * day + 1), leave],
    ["a warning 3 days before", goesIn(3 * day), warn("3d", 3 * day)],
    ["a warning 1 day before", goesIn(day), warn("1d", day)],
    ["inside both windows only the later warning is sent", goesIn(hour), warn("1d", hour)],
    ["no warning for a world without owner", { ...goesIn(hour), owner_id: undefined }, leave],
    ["a warning is sent once", { ...goesIn(2 * day), warned_3d_at: at(now - hour) }, leave],
    [
      "the second warning is sent after the first",
      { ...goesIn(hour), warned_3d_at: at(now - 2 * day) },
      warn("1d", hour),
    ],
    [
      "the first warning is not sent after the second",
      { ...goesIn(hour), warned_1d_at: at(now - hour) },
      leave,
    ],
    [
      "a warning from an earlier idle period does not count",
      { ...goesIn(2 * day), warned_3d_at: at(now - 40 * day) },
      warn("3d", 2 * day),
    ],
  ];
  for (const [fact, world, verdict] of rows) {
    test(fact, () => assert.deepEqual(decideWorld(aWorld(world), { now, warnBefore }), verdict));
  }

  test("without windows no warning is sent", () => {
    assert.deepEqual(decideWorld(aWorld(goesIn(hour)), { now, warnBefore: [] }), leave);
  });

  test("with one window its warning is the last one", () => {
    assert.deepEqual(decideWorld(aWorld(goesIn(hour)), { now, warnBefore: [2 * hour] }), warn("1d", hour));
  });
});

describe("what is done with a volume", () => {
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
    ["an archive since the last activity may be reused", { hasVolume: true, backups: [fresh] }, "reuse"],
    [
      "an archive from before the last activity may not be reused",
      { hasVolume: true, backups: [made(21 * day)] },
      "archive",
    ],
    [
      "an archive from before the claim may not be reused",
      { hasVolume: true, backups: [fresh], world: { claimed_at: at(now - day / 2) } },
      "archive",
    ],
    [
      "a corrupt archive may not be reused",
      { hasVolume: true, backups: [made(day, { corrupt_at: new Date(now) })] },
      "archive",
    ],
    [
      "an expired archive may not be reused",
      { hasVolume: true, backups: [made(day, { status: "expired" })] },
      "archive",
    ],
    [
      "an archive of a former owner may not be reused",
      { hasVolume: true, backups: [made(day, { former_owner: "usr-2" })] },
      "archive",
    ],
    [
      "a manual backup may not be reused",
      { hasVolume: true, backups: [made(day, { reason: "manual" })] },
      "archive",
    ],
    [
      "a restore point may not be reused",
      { hasVolume: true, backups: [made(day, { reason: "scheduled" })] },
      "archive",
    ],
    [
      "a world that is given up gets an archive with its own reason",
      { outcome: "released", hasVolume: true, backups: [fresh] },
      "archive",
    ],
    [
      "an archive with that reason may be reused",
      { outcome: "deleted", hasVolume: true, backups: [made(day, { reason: "released" })] },
      "reuse",
    ],
    [
      "a server whose archived volume is gone is only released",
      { hasVolume: false, backups: [fresh] },
      "finish",
    ],
    [
      "so is one whose owner gave it up in the meantime",
      { outcome: "released", hasVolume: false, backups: [fresh] },
      "finish",
    ],
    [
      "a server without owner, world and archive restarts its idle period",
      { hasVolume: false, world: { owner_id: undefined } },
      "restart-clock",
    ],
    ["an owned server without world and archive is released", { hasVolume: false }, "release"],
    ["an old archive makes no difference", { hasVolume: false, backups: [made(21 * day)] }, "release"],
    [
      "a server without owner and world is still deleted",
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

test("the decisions for 2,000 due worlds take far less than 10 s", () => {
  const worlds = Array.from({ length: 2_000 }, (_, i) => aWorld({ name: `w-${i}`, ...idleFor(20 * day) }));
  const backups = Array.from({ length: 20 }, () => aBackup({ reason: "inactive_15d" }));
  const startedAt = performance.now();
  const due = worlds.filter((world) => decideWorld(world, { now, warnBefore }).kind === "reap");
  for (const world of due) decideVolume(world, { outcome: "reclaimed", hasVolume: true, backups });
  assert.equal(due.length, 2_000);
  assert.ok(performance.now() - startedAt < 1_000);
});
