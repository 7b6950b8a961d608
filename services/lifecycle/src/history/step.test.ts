import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decideSweep, gridOf, meanOf, seriesOf, stepStart } from "./step.ts";

const at = (text: string) => Date.parse(`2026-03-${text}Z`);
const iso = (time: number | Date) => new Date(time).toISOString().slice(8, 16);

test("a step begins at a multiple of its minutes in UTC, whatever the day", () => {
  const steps = [5, 30, 120].map((minutes) => iso(stepStart(at("02T13:59:59.999"), minutes)));
  assert.deepEqual(steps, ["02T13:55", "02T13:30", "02T12:00"]);
  assert.equal(stepStart(at("02T12:00:00"), 120), at("02T12:00:00"));
});

test("steps are merged when no shorter range needs them, and only whole ones", () => {
  const plan = decideSweep(at("31T13:59:00"));
  assert.deepEqual(
    plan.merges.map(({ before, ...merge }) => ({ ...merge, before: iso(before) })),
    [
      { fromMinutes: 5, toMinutes: 30, before: "30T13:30" },
      { fromMinutes: 30, toMinutes: 120, before: "24T12:00" },
    ],
  );
  assert.equal(iso(plan.dropBefore), "01T12:00");
});

for (const range of ["24h", "7d", "30d"] as const) {
  test(`the steps of ${range} end with the present one and begin after what is merged`, () => {
    const now = at("31T13:59:00");
    const { from, stepMs, steps } = gridOf(range, now);
    const end = from + steps * stepMs;
    assert.ok(end > now && end - stepMs <= now);
    const { merges } = decideSweep(now);
    const coarser = merges.filter(({ toMinutes }) => toMinutes * 60_000 > stepMs);
    for (const { before } of coarser) assert.ok(from >= before.getTime(), `${before.toISOString()}`);
  });
}

describe("a series", () => {
  const grid = { from: at("02T00:00:00"), stepMs: 1_800_000, steps: 4 };
  const row = (time: string, sum: number, count: number) => ({ at: new Date(at(time)), sum, count });
  const mean = meanOf<ReturnType<typeof row>>({
    sum: ({ sum }) => sum,
    count: ({ count }) => count,
    digits: 1,
  });
  const cases: Record<string, [ReturnType<typeof row>[], (number | null)[]]> = {
    "of nothing is gaps": [[], [null, null, null, null]],
    "weighs rows by their samples": [
      [row("02T00:00:00", 10, 5), row("02T00:05:00", 20, 1), row("02T00:30:00", 6, 2)],
      [5, 3, null, null],
    ],
    "keeps a gap between two values": [
      [row("02T00:00:00", 1, 1), row("02T01:30:00", 2, 1)],
      [1, null, null, 2],
    ],
    "has 0 where nobody was on, and a gap where nobody counted": [
      [row("02T00:00:00", 0, 5), row("02T00:30:00", 0, 0)],
      [0, null, null, null],
    ],
    rounds: [[row("02T00:00:00", 10, 3)], [3.3, null, null, null]],
    "leaves out what is before or after it": [
      [row("01T23:55:00", 9, 1), row("02T02:00:00", 9, 1)],
      [null, null, null, null],
    ],
  };
  for (const [name, [rows, expected]] of Object.entries(cases))
    test(name, () => assert.deepEqual(seriesOf(grid, rows, mean), expected));
});
