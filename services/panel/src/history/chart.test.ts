import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  bandsOf,
  isAlone,
  linePath,
  medianOf,
  spreadOut,
  stepAt,
  summaryOf,
  timeTicks,
  valuesOf,
  valueTicks,
} from "./chart.ts";

const path = (...values: (number | null)[]) =>
  linePath(
    values,
    (x) => x * 10,
    (y) => 100 - y,
  );

test("a line breaks at a gap, and leads to no value that is alone", () => {
  assert.equal(path(1, 2), "M0.0 99.0L10.0 98.0");
  assert.equal(path(1, null, 2, 3), "M20.0 98.0L30.0 97.0");
  assert.equal(path(null, 5, null), "");
  assert.equal(path(null, null), "");
  assert.equal(path(0, 0), "M0.0 100.0L10.0 100.0", "0 is a value");
});

test("a value is alone between gaps and at the ends, 0 too", () => {
  const values = [1, null, 0, null, 2, 3, null, 4];
  const alone = values.map((_, index) => index).filter((index) => isAlone(values, index));
  assert.deepEqual(alone, [0, 2, 7]);
});

describe("ticks of values", () => {
  const cases: Record<string, [number[], number[]]> = {
    "are round": [valueTicks(19.6), [0, 5, 10, 15, 20]],
    "do not go beyond the largest by a whole step": [valueTicks(20), [0, 5, 10, 15, 20]],
    "are small for small values": [valueTicks(0.07), [0, 0.02, 0.04, 0.06, 0.08]],
    "are whole players": [valueTicks(3, { isWhole: true }), [0, 1, 2, 3]],
    "are whole when nobody was on": [valueTicks(0, { isWhole: true }), [0, 1]],
    "exist for nothing but zeros": [valueTicks(0), [0, 1]],
    "are powers of two for sizes": [
      valueTicks(1.4 * 2 ** 30, { isBytes: true }).map((value) => value / 2 ** 20),
      [0, 512, 1_024, 1_536],
    ],
  };
  for (const [name, [ticks, expected]] of Object.entries(cases))
    test(name, () =>
      assert.deepEqual(
        ticks.map((tick) => Number(tick.toPrecision(6))),
        expected,
      ),
    );
});

describe("ticks of time", () => {
  const at = (...parts: [number, number, number, number?]) => new Date(...parts).getTime();
  test("are hours of the reader's clock within a day", () => {
    const ticks = timeTicks({ from: at(2026, 2, 2, 10), to: at(2026, 2, 3, 10) }, 6);
    assert.deepEqual(
      ticks.map((tick) => new Date(tick.at).getHours()),
      [12, 16, 20, 0, 4, 8],
    );
    assert.deepEqual(ticks.filter(({ isDay }) => isDay).length, 1);
  });
  test("are midnights in a week and a month, never more than fit", () => {
    for (const days of [7, 30]) {
      const ticks = timeTicks({ from: at(2026, 2, 15, 10), to: at(2026, 2, 15 + days, 10) }, 6);
      assert.ok(ticks.length >= 3 && ticks.length <= 6, `${ticks.length}`);
      assert.ok(ticks.every((tick) => tick.isDay));
    }
  });
});

describe("phases", () => {
  const span = { from: Date.parse("2026-03-02T10:00:00Z"), to: Date.parse("2026-03-02T12:00:00Z") };
  const minutes = (changes: [string, string][]) =>
    bandsOf(
      changes.map(([at, phase]) => ({ at: `2026-03-02T${at}Z`, phase })),
      span,
    ).map(({ from, to, phase }) => [phase, (from - span.from) / 60_000, (to - span.from) / 60_000]);
  test("fill the time up to the next one, and to the end", () => {
    assert.deepEqual(
      minutes([
        ["09:00:00", "Stopped"],
        ["10:30:00", "Running"],
      ]),
      [
        ["Stopped", 0, 30],
        ["Running", 30, 120],
      ],
    );
  });
  test("leave a gap before the first one that is known", () => {
    assert.deepEqual(minutes([["11:00:00", "Running"]]), [["Running", 60, 120]]);
    assert.deepEqual(minutes([]), []);
  });
});

test("a summary has the newest known value and the largest", () => {
  assert.deepEqual(summaryOf([1, 7, 3, null]), { last: 3, most: 7 });
  assert.deepEqual(summaryOf([0, null]), { last: 0, most: 0 });
  assert.equal(summaryOf([null]), undefined);
});

test("the median is one of the values", () => {
  assert.deepEqual([medianOf([9, 1, 4]), medianOf([2, 1]), medianOf([])], [4, 1, undefined]);
});

test("every place of a chart belongs to a step", () => {
  assert.deepEqual(
    [-1, 0, 0.5, 0.999, 1, 2].map((fraction) => stepAt(fraction, 4)),
    [0, 0, 2, 3, 3, 3],
  );
});

test("measurements stand in the step of their time, the last one of it, and none is invented", () => {
  const at = (minute: number) => `2026-03-02T10:${String(minute).padStart(2, "0")}:00.000Z`;
  const span = { from: Date.parse(at(0)), to: Date.parse(at(40)) };
  const measured = [1, 11, 19, 40].map((minute) => ({ at: at(minute), bytes: minute }));
  assert.deepEqual(valuesOf([{ at: "2026-03-02T09:59:00Z", bytes: 5 }, ...measured], span, 4), [
    1,
    19,
    null,
    null,
  ]);
});

test("labels at the ends of lines stand a line of text apart, and none below the chart", () => {
  const at = (...ys: number[]) =>
    spreadOut(
      ys.map((y) => ({ y })),
      100,
    ).map(({ y }) => y);
  assert.deepEqual(at(50, 10), [10, 50]);
  assert.deepEqual(at(40, 42, 44), [40, 56, 72]);
  assert.deepEqual(at(98, 99), [84, 100]);
  assert.deepEqual(at(), []);
});
