import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addStart, estimateOf, type StartDurations } from "./start-estimate.ts";

const many = (count: number, seconds: number) => Array.from({ length: count }, () => seconds);

describe("the estimate", () => {
  const rows: [fact: string, seconds: number[], estimate: { p50: number; p95: number } | undefined][] = [
    ["of a server that never started is unknown", [], undefined],
    ["of one start leaves room, as one start says nothing about the spread", [40], { p50: 40, p95: 60 }],
    ["of two starts promises the shorter and admits the longer", [30, 90], { p50: 30, p95: 90 }],
    ["of four even starts still leaves room", [10, 10, 10, 10], { p50: 10, p95: 15 }],
    ["of five starts needs no room", [38, 40, 41, 39, 42], { p50: 40, p95: 42 }],
    ["is not moved by one slow start in twenty", [...many(19, 30), 240], { p50: 30, p95: 30 }],
    ["admits two slow starts in twenty", [...many(18, 30), 240, 250], { p50: 30, p95: 240 }],
    ["does not depend on the order", [50, 10, 40, 20, 30], { p50: 30, p95: 50 }],
  ];
  for (const [fact, seconds, estimate] of rows)
    test(fact, () => assert.deepEqual(estimateOf({ image: "a", seconds }), estimate));
  test("of a server without a record is unknown", () => assert.equal(estimateOf(undefined), undefined));
});

describe("a start", () => {
  type Row = [fact: string, known: StartDurations | undefined, seconds: number, after: number[]];
  const rows: Row[] = [
    ["is the first of a new server", undefined, 12, [12]],
    ["is added as the newest", { image: "a", seconds: [10, 11] }, 12, [10, 11, 12]],
    ["counts whole seconds, rounded up", { image: "a", seconds: [] }, 1.2, [2]],
    ["of less than a second counts one", undefined, 0.004, [1]],
    [
      "of another image keeps the three newest of the old",
      { image: "b", seconds: [1, 2, 3, 4] },
      9,
      [2, 3, 4, 9],
    ],
    ["pushes out the oldest of twenty", { image: "a", seconds: [1, ...many(19, 5)] }, 6, [...many(19, 5), 6]],
  ];
  for (const [fact, known, seconds, after] of rows)
    test(fact, () =>
      assert.deepEqual(addStart(known, { image: "a", seconds }), { image: "a", seconds: after }),
    );
});

test("four starts with a new image outweigh those with the old one", () => {
  let durations: StartDurations | undefined = { image: "old", seconds: many(20, 30) };
  for (let start = 0; start < 4; start++) durations = addStart(durations, { image: "new", seconds: 90 });
  assert.deepEqual(estimateOf(durations), { p50: 90, p95: 90 });
});
