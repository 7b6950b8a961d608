import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, percentOf, shareOf } from "./days.ts";

const as_of = "2026-11-24T00:01:00.000Z";
const day = (name: string, known: number, down = 0, planned = 0) => ({
  ...{ day: name, known_minutes: known, down_minutes: down, planned_minutes: planned },
});

test("there is a bar for each of 90 days, and what is not known is not fine", () => {
  const days = [day("2026-11-22", 1_440, 5), day("2026-11-23", 1_440), day("2026-11-24", 2, 0, 1)];
  const bars = barsOf({ days, as_of });
  assert.equal(bars.length, 90);
  assert.deepEqual(bars[0], { day: "2026-08-27", look: "none", minutes: 0 });
  assert.deepEqual(
    bars.slice(-3).map(({ look, minutes }) => [look, minutes]),
    [
      ["some", 5],
      ["fine", 0],
      ["planned", 1],
    ],
  );
  assert.equal(barsOf({ days: [day("2026-11-24", 100, 10)], as_of }).at(-1)?.look, "down");
});

test("a share counts what is known without announced maintenance, and is never rounded up to 100 %", () => {
  assert.equal(shareOf([]), undefined);
  assert.equal(shareOf([day("a", 10, 0, 10)]), undefined);
  assert.equal(shareOf([day("a", 100, 5, 50), day("b", 50)]), 0.95);
  assert.deepEqual([1, 0.999_99, 0.95, 0].map(percentOf), ["100 %", "99.99 %", "95.00 %", "0.00 %"]);
});
