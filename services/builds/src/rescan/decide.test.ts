import assert from "node:assert/strict";
import { test } from "node:test";
import { decideRescans, type LastScan } from "./decide.ts";

const now = Date.parse("2026-11-23T02:00:00Z");
const hour = 3_600_000;
const images = ["a", "b", "c"].map((name) => ({ ref: `${name}:1@x`, digest: `sha256:${name}` }));
const scanned = (name: string, hours: number, status: LastScan["status"] = "succeeded"): LastScan => ({
  ref: `${name}:1@x`,
  at: new Date(now - hours * hour),
  status,
});

const table: Record<string, [last: LastScan[], due: string[]]> = {
  "what was never scanned is due": [[], ["a", "b", "c"]],
  "what was scanned or built within the interval is not due": [
    [scanned("a", 23.9), scanned("b", 24), scanned("c", 1)],
    ["b"],
  ],
  "the longest ago comes first": [
    [scanned("a", 25), scanned("b", 30), scanned("c", 48)],
    ["c", "b", "a"],
  ],
  "the newest counts, in any order": [
    [scanned("a", 48), scanned("a", 1), scanned("b", 1), scanned("b", 48), scanned("c", 1)],
    [],
  ],
  "what failed or was cancelled is due after an hour": [
    [scanned("a", 1, "failed"), scanned("b", 0.9, "failed"), scanned("c", 1.5, "cancelled")],
    ["c", "a"],
  ],
  "a failure after a success counts": [
    [scanned("a", 30), scanned("a", 0.5, "failed"), scanned("b", 1), scanned("c", 1)],
    [],
  ],
  "while one waits or runs nothing is added": [[scanned("a", 48), scanned("z", 1, "pending")], []],
  "what is no longer used is not scanned": [
    [scanned("z", 100), scanned("a", 1), scanned("b", 1), scanned("c", 1)],
    [],
  ],
};
for (const [fact, [last, due]] of Object.entries(table))
  test(`scans: ${fact}`, () => {
    const found = decideRescans({ images, last }, { now, everyMs: 24 * hour, most: 10 });
    assert.deepEqual(
      found.map(({ ref }) => ref[0]),
      due,
    );
  });

test("a round has so many images, and each only once", () => {
  const due = decideRescans({ images: [...images, ...images], last: [] }, { now, everyMs: hour, most: 2 });
  assert.deepEqual(due, images.slice(0, 2));
  const all = decideRescans({ images: [...images, ...images], last: [] }, { now, everyMs: hour, most: 9 });
  assert.deepEqual(all, images);
});

test("what was scanned before the scanner's database was pushed is due, and what failed since waits", () => {
  const last = [scanned("a", 3), scanned("b", 1), scanned("c", 0.5, "failed")];
  const about = { now, everyMs: 24 * hour, most: 9 };
  const due = (databaseAt?: Date) =>
    decideRescans({ images, last }, { ...about, databaseAt }).map(({ ref }) => ref[0]);
  assert.deepEqual(due(), []);
  assert.deepEqual(due(new Date(now - 2 * hour)), ["a"]);
  assert.deepEqual(due(new Date(now)), ["a", "b"]);
});
