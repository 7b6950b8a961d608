import assert from "node:assert/strict";
import { test } from "node:test";
import { trendOf } from "./trend.ts";

const series = (count: number, valueAt: (n: number) => number) =>
  Array.from({ length: count }, (_, n) => ({ atMs: n * 10_000, value: valueAt(n) }));
const tolerance = { least: 5, share: 0.1 };
/** Noise that is the same in each run. */
const noise = (n: number) => ((n * 7_919) % 11) - 5;

const cases: [string, (n: number) => number, boolean][] = [
  ["stays", () => 100, false],
  ["is noisy", (n) => 100 + noise(n), false],
  ["has grown when the warm-up ends", (n) => Math.min(n, 30) * 10, false],
  ["grows steadily", (n) => 100 + n, true],
  ["grows and is noisy", (n) => 100 + n + noise(n), true],
  ["grows within the tolerance", (n) => 1_000 + n, false],
  ["has one peak at its end", (n) => (n > 110 ? 300 : 100), false],
  ["steps up once and stays", (n) => (n < 85 ? 100 : 150), false],
  ["falls", (n) => 500 - n, false],
];
for (const [what, valueAt, isGrowing] of cases)
  test(`a series that ${what} is ${isGrowing ? "" : "not "}growing`, () => {
    assert.equal(trendOf(series(120, valueAt), tolerance).isGrowing, isGrowing);
  });

test("the slope is told per hour", () => {
  assert.equal(
    trendOf(
      series(120, (n) => n),
      tolerance,
    ).perHour,
    360,
  );
});

test("few readings are not a trend", () => {
  for (const count of [0, 1, 2])
    assert.equal(
      trendOf(
        series(count, (n) => n * 100),
        tolerance,
      ).isGrowing,
      false,
    );
});
