import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { WorldServer } from "../job/world.ts";
import { dueForBackup, holdsSlot, type Observed } from "./policy.ts";

const day = 86_400_000;
const now = Date.parse("2026-02-01T00:00:00Z");

function world(name: string, change: Partial<WorldServer> = {}): WorldServer {
  return {
    name,
    exists: true,
    owner_id: "usr-1",
    last_active_at: new Date(now - 3_600_000).toISOString(),
    reaper_exempt: false,
    system: false,
    phase: "Stopped",
    desired_state: "Stopped",
    stopped: true,
    volume_claim: `world-${name}-0`,
    ...change,
  };
}

function due(worlds: WorldServer[], change: Partial<Observed> = {}): string[] {
  return dueForBackup({ worlds, newest: new Map(), failed: new Set(), now, everyMs: day, ...change });
}

const ago = (ms: number) => new Date(now - ms);

describe("which server gets a restore point", () => {
  test("those without any come first, then those that wait the longest", () => {
    const newest = new Map([
      ["bbb/usr-1", ago(2 * day)],
      ["ccc/usr-1", ago(3 * day)],
    ]);
    const worlds = ["bbb", "ccc", "ddd", "aaa"].map((name) => world(name));
    assert.deepEqual(due(worlds, { newest }), ["aaa", "ddd", "ccc", "bbb"]);
  });

  const point = (ms: number) => new Map([["aaa/usr-1", ago(ms)]]);
  const table: [string, WorldServer, Partial<Observed>, boolean][] = [
    ["one whose interval has passed and that was played on", world("aaa"), { newest: point(day) }, true],
    ["none before the interval has passed", world("aaa"), { newest: point(day - 1) }, false],
    [
      "none that nobody joined since",
      world("aaa", { last_active_at: ago(5 * day).toISOString() }),
      { newest: point(4 * day) },
      false,
    ],
    [
      "one whose restore points are another owner's",
      world("aaa", { owner_id: "usr-2" }),
      { newest: point(1) },
      true,
    ],
    ["none that failed a short while ago", world("aaa"), { failed: new Set(["aaa/usr-1"]) }, false],
    ["none without an owner", world("aaa", { owner_id: undefined }), {}, false],
    ["none that runs", world("aaa", { stopped: false }), {}, false],
    ["none that is given up", world("aaa", { retiring: "release" as never }), {}, false],
    ["none whose object is gone", world("aaa", { exists: false }), {}, false],
  ];
  for (const [name, server, change, isDue] of table) {
    test(name, () => assert.deepEqual(due([server], change), isDue ? ["aaa"] : []));
  }
});

describe("the slot of restore points", () => {
  const minute = 60_000;
  const settings = { backup_deadline: 30 * minute, restore_deadline: 60 * minute, slot_share: 0.25 };
  const table = [
    ["a backup has it while it is young", "backup", 7 * minute, true],
    ["a backup passes it on after its share of its deadline", "backup", 8 * minute, false],
    ["a restore has it for the share of its own deadline", "restore", 14 * minute, true],
    ["a restore passes it on, too", "restore", 15 * minute, false],
  ] as const;
  for (const [name, kind, age, holds] of table)
    test(name, () => {
      const job = { kind, started_at: new Date(now - age) };
      assert.equal(holdsSlot(job, settings, now), holds);
    });
});
