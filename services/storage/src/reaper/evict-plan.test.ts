import assert from "node:assert/strict";
import { test } from "node:test";
import { now } from "../testing/reaper/facts.ts";
import { type Candidate, planEviction } from "./evict-plan.ts";

const one = (id: string, about: Partial<Candidate> = {}): Candidate => ({
  id,
  reason: "manual",
  size_bytes: 10,
  created_at: new Date(now - 1_000),
  hasCopy: false,
  pinned_at: null,
  isInUse: false,
  isLast: false,
  ...about,
});
const ago = (days: number) => ({ created_at: new Date(now - days * 86_400_000) });
const copied = { reason: "inactive_15d", hasCopy: true };

type Row = [
  fact: string,
  about: { used: number; need: number; max: number },
  from: Candidate[],
  evict: string[] | "full",
];
const full = { used: 100, need: 10, max: 100 };
const rows: Row[] = [
  ["without a cap nothing is evicted", { used: 900, need: 900, max: 0 }, [one("a")], []],
  ["nothing is evicted when the archive fits", { used: 90, need: 10, max: 100 }, [one("a")], []],
  ["the oldest manual backup is evicted first", full, [one("b", ago(1)), one("a", ago(2))], ["a"]],
  [
    "only as many are evicted as are needed",
    { ...full, need: 15 },
    [one("b", ago(1)), one("a", ago(2))],
    ["a", "b"],
  ],
  [
    "archives with an off-site copy are evicted after all manual ones",
    { ...full, need: 15 },
    [one("c", { ...copied, ...ago(9) }), one("a")],
    ["a", "c"],
  ],
  [
    "the same holds for a released world's archive",
    full,
    [one("c", { ...copied, reason: "released" })],
    ["c"],
  ],
  ["an archive without off-site copy is kept", full, [one("c", { reason: "inactive_15d" })], "full"],
  [
    "restore points and safety snapshots are kept",
    full,
    [one("s", { reason: "scheduled" }), one("p", { reason: "pre_restore" })],
    "full",
  ],
  ["the only copy of a world is kept", full, [one("a", { isLast: true })], "full"],
  [
    "a pinned backup is kept",
    full,
    [one("a", { pinned_at: new Date(now) }), one("c", { ...copied, pinned_at: new Date(now) })],
    "full",
  ],
  [
    "a backup that a restore or a move reads is kept",
    full,
    [one("a", { isInUse: true }), one("c", { ...copied, isInUse: true })],
    "full",
  ],
  ["nothing is evicted when it would not be enough", { ...full, need: 25 }, [one("a"), one("b")], "full"],
  [
    "a store that is already over its cap frees the excess too",
    { used: 115, need: 5, max: 100 },
    [one("a", ago(2)), one("b", ago(1))],
    ["a", "b"],
  ],
];
for (const [fact, about, from, evict] of rows) {
  test(fact, () => {
    const plan = planEviction(about, from);
    assert.deepEqual(plan, evict === "full" ? { isEnough: false, evict: [] } : { isEnough: true, evict });
  });
}
