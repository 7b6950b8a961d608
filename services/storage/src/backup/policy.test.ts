import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { scopeOf } from "../access.ts";
import { settings } from "../config.ts";
import { actionFor } from "./now.ts";
import {
  cooldownLeft,
  decidePin,
  decidePrune,
  expiryOf,
  isDeduplicated,
  isStoreFull,
  type Pin,
  retainedCount,
} from "./policy.ts";

const defaults = loadSettings(settings, {});
const { archive } = defaults;
const day = 86_400_000;
const at = new Date("2026-01-01T00:00:00Z");

describe("retention of backups", () => {
  const table = [
    ["manual", 30, 5],
    ["pre_restore", 30, 3],
    ["scheduled", 90, 7],
    ["inactive_15d", 90, undefined],
    ["released", 90, undefined],
  ] as const;
  for (const [reason, days, keep] of table) {
    test(`${reason} expires after ${days} days, and ${keep ?? "all"} of a server and owner are kept`, () => {
      assert.equal(expiryOf(reason, at, archive).getTime() - at.getTime(), days * day);
      assert.equal(retainedCount(reason, defaults), keep);
    });
  }
});

describe("which backups share content", () => {
  const on = { ...archive, deduplicate: true };
  for (const reason of ["manual", "scheduled", "pre_restore"] as const)
    test(`${reason}: where it is turned on and archives are zstd`, () => {
      assert.equal(isDeduplicated(reason, on), true);
      assert.equal(isDeduplicated(reason, archive), false);
      assert.equal(isDeduplicated(reason, { ...on, compression: "gzip" }), false);
    });
  for (const reason of ["inactive_15d", "released"] as const)
    test(`${reason}: never, since its world is deleted next`, () =>
      assert.equal(isDeduplicated(reason, on), false));
});

test("the cooldown starts at the request, counts whole seconds and ends on time", () => {
  const left = (sinceMs: number) => cooldownLeft({ newest: at, now: at.getTime() + sinceMs }, archive);
  assert.equal(left(0), 600);
  assert.equal(left(599_001), 1);
  assert.equal(left(600_000), undefined);
  assert.equal(cooldownLeft({ newest: undefined, now: 0 }, archive), undefined);
});

test("without a cap the store is never full; with one it is full when the cap is reached", () => {
  assert.equal(isStoreFull(10 ** 15, { max_local_bytes: 0 }), false);
  assert.equal(isStoreFull(99, { max_local_bytes: 100 }), false);
  assert.equal(isStoreFull(100, { max_local_bytes: 100 }), true);
});

test("staff see every backup, an account those of its own worlds, a service token none", () => {
  const account = { username: "a", role: "user", setup: false, session: "" } as const;
  assert.deepEqual(scopeOf({ kind: "account", user_id: "u", staff: true, ...account }), { kind: "all" });
  assert.deepEqual(scopeOf({ kind: "account", user_id: "u", staff: false, ...account }), {
    kind: "owner",
    userId: "u",
  });
  assert.deepEqual(scopeOf({ kind: "caller", caller: "ops" }), { kind: "none" });
  assert.deepEqual(scopeOf({ kind: "anonymous" }), { kind: "none" });
});

describe("which backups are pruned", () => {
  const row = (
    id: string,
    about: { pinned?: boolean; inUse?: boolean; corrupt?: boolean; partial?: boolean } = {},
  ) => ({
    id,
    created_at: at,
    pinned: false,
    inUse: false,
    corrupt: false,
    partial: false,
    ...about,
  });
  const table: [string, ReturnType<typeof row>[], string[]][] = [
    ["none while there are few", [row("c"), row("b")], []],
    ["the oldest ones above the number to keep", [row("d"), row("c"), row("b"), row("a")], ["b", "a"]],
    [
      "a pinned one is kept and does not count",
      [row("d", { pinned: true }), row("c"), row("b"), row("a")],
      ["a"],
    ],
    [
      "corrupt ones do not count, so that an intact one is never pruned because of them",
      [row("d"), row("c", { corrupt: true }), row("b", { corrupt: true }), row("a")],
      [],
    ],
    [
      "a corrupt one is pruned when enough intact ones are newer",
      [row("d"), row("c"), row("b", { corrupt: true }), row("a")],
      ["b", "a"],
    ],
    [
      "an incomplete one never displaces a complete one",
      [row("d", { partial: true }), row("c", { partial: true }), row("b"), row("a")],
      [],
    ],
    [
      "as many incomplete ones are kept as complete ones",
      [
        row("e", { partial: true }),
        row("d", { partial: true }),
        row("c", { partial: true }),
        row("b"),
        row("a"),
      ],
      ["c"],
    ],
    ["one that a restore is going to read is kept", [row("c"), row("b"), row("a", { inUse: true })], []],
  ];
  for (const [name, rows, gone] of table) test(name, () => assert.deepEqual(decidePrune(rows, 2), gone));
});

describe("what `backup-now` does with a server", () => {
  const world = { exists: true, stopped: true } as Parameters<typeof actionFor>[0];
  const running = { exists: true, stopped: false } as Parameters<typeof actionFor>[0];
  const table = [
    ["a stopped server is backed up", world, { hasVolume: true, mayStop: false }, "back_up"],
    ["a running server is skipped", running, { hasVolume: true, mayStop: false }, "skip_running"],
    [
      "a running server is stopped when asked to",
      running,
      { hasVolume: true, mayStop: true },
      "stop_then_back_up",
    ],
    ["a server without a volume is skipped", running, { hasVolume: false, mayStop: true }, "skip_no_volume"],
    ["an unknown server is skipped", undefined, { hasVolume: false, mayStop: true }, "skip_unknown"],
  ] as const;
  for (const [name, server, about, action] of table) {
    test(name, () => assert.equal(actionFor(server, about), action));
  }
});

describe("who may unpin which pin", () => {
  const table: [pin: Pin, by: "owner" | "staff", pinned: boolean, after: Pin | "refused"][] = [
    ["none", "owner", true, "owner"],
    ["none", "owner", false, "none"],
    ["none", "staff", true, "staff"],
    ["owner", "owner", false, "none"],
    ["owner", "staff", true, "staff"],
    ["owner", "staff", false, "none"],
    ["staff", "owner", true, "staff"],
    ["staff", "owner", false, "refused"],
    ["staff", "staff", false, "none"],
  ];
  for (const [pin, by, pinned, after] of table) {
    test(`a pin of ${pin}, ${pinned ? "pinned" : "unpinned"} by ${by}: ${after}`, () => {
      assert.equal(decidePin(pin, { by, pinned }), after);
    });
  }
});
