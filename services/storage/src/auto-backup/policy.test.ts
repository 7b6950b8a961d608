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
  test("servers without a restore point come first, then those with the oldest one", () => {
    const newest = new Map([
      ["bbb/usr-1", ago(2 * day)],
      ["ccc/usr-1", ago(3 * day)],
    ]);
    const worlds = ["bbb", "ccc", "ddd", "aaa"].map((name) => world(name));
    assert.deepEqual(due(worlds, { newest }), ["aaa", "ddd", "ccc", "bbb"]);
  });

  const point = (ms: number) => new Map([["aaa/usr-1", ago(ms)]]);
  const table: [string, WorldServer, Partial<Observed>, boolean][] = [
    [
      "a server whose interval has passed and that players joined since",
      world("aaa"),
      { newest: point(day) },
      true,
    ],
    ["no server whose interval has not passed", world("aaa"), { newest: point(day - 1) }, false],
    [
      "no server that nobody has joined since",
      world("aaa", { last_active_at: ago(5 * day).toISOString() }),
      { newest: point(4 * day) },
      false,
    ],
    [
      "a server whose restore points belong to another owner",
      world("aaa", { owner_id: "usr-2" }),
      { newest: point(1) },
      true,
    ],
    [
      "no server whose restore point failed recently",
      world("aaa"),
      { failed: new Set(["aaa/usr-1"]) },
      false,
    ],
    ["no server without an owner", world("aaa", { owner_id: undefined }), {}, false],
    ["no running server", world("aaa", { stopped: false }), {}, false],
    ["no server that has been given up", world("aaa", { retiring: "release" as never }), {}, false],
    ["no server whose object is gone", world("aaa", { exists: false }), {}, false],
  ];
  for (const [name, server, change, isDue] of table) {
    test(name, () => assert.deepEqual(due([server], change), isDue ? ["aaa"] : []));
  }
});

describe("the slot of restore points", () => {
  const minute = 60_000;
  const settings = { backup_deadline: 30 * minute, restore_deadline: 60 * minute, slot_share: 0.25 };
  const table = [
    ["a recent backup occupies it", "backup", 7 * minute, true],
    ["a backup frees it after its share of its deadline", "backup", 8 * minute, false],
    ["a restore occupies it for the share of its own deadline", "restore", 14 * minute, true],
    ["a restore frees it after that", "restore", 15 * minute, false],
  ] as const;
  for (const [name, kind, age, holds] of table)
    test(name, () => {
      const job = { kind, started_at: new Date(now - age) };
      assert.equal(holdsSlot(job, settings, now), holds);
    });
});
