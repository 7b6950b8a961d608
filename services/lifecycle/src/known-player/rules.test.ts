import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { countVisit, type Known, type ReportedVisit } from "./rules.ts";

const t0 = Date.parse("2026-01-01T00:00:00.000Z");
const at = (second: number) => t0 + second * 1_000;
const visit = (number: number, seconds: number, end: number, proxy = "a"): ReportedVisit => ({
  ...{ proxy, number, name: "alice", lasted: seconds * 1_000, end: at(end) },
});
/** Seconds of all: first seen, last seen, played, and visits. */
const shown = (known: Known | undefined) =>
  known &&
  [known.firstSeen, known.lastSeen]
    .map((time) => (time - t0) / 1_000)
    .concat(known.playedMs / 1_000, known.visits);
const countAll = (reports: readonly ReportedVisit[], notBefore = -10_000) =>
  reports.reduce<Known | undefined>(
    (known, one) => countVisit(known, one, { notBefore: at(notBefore) }) ?? known,
    undefined,
  );

const rows: [fact: string, reports: ReportedVisit[], is: number[] | undefined, notBefore?: number][] = [
  ["a first report counts all of it", [visit(1, 60, 100)], [40, 100, 60, 1]],
  ["a later report adds what is more", [visit(1, 60, 100), visit(1, 90, 130)], [40, 130, 90, 1]],
  ["a repeat adds nothing", [visit(1, 60, 100), visit(1, 60, 103)], [40, 100, 60, 1]],
  ["an older report of the visit adds nothing", [visit(1, 60, 100), visit(1, 50, 101)], [40, 100, 60, 1]],
  ["the next visit is one more", [visit(1, 60, 100), visit(2, 10, 120)], [40, 120, 70, 2]],
  [
    "an earlier visit of the proxy that comes late adds nothing",
    [visit(2, 10, 120), visit(1, 60, 121)],
    [110, 120, 10, 1],
  ],
  ["two proxies at once count once", [visit(1, 60, 100), visit(1, 60, 130, "b")], [40, 130, 90, 2]],
  [
    "another proxy within what is counted adds nothing",
    [visit(1, 60, 100), visit(1, 30, 90, "b")],
    [40, 100, 60, 1],
  ],
  ["a visit too short to measure is a visit", [visit(1, 0, 100)], [100, 100, 0, 1]],
  ["what was before is not counted", [visit(1, 60, 100)], [70, 100, 30, 1], 70],
  ["a visit that ended before is nothing", [visit(1, 60, 100)], undefined, 101],
  ["a visit that ended at that moment is nothing", [visit(1, 60, 100)], undefined, 100],
  [
    "nothing is invented over a gap between two proxies",
    [visit(1, 60, 100), visit(1, 20, 5_000, "b")],
    [40, 5_000, 80, 2],
  ],
  [
    "a month in one report counts as seven days",
    [visit(1, 30 * 86_400, 86_400)],
    [-6 * 86_400, 86_400, 7 * 86_400, 1],
    -1e9,
  ],
  [
    "and is counted on from there",
    [visit(1, 30 * 86_400, 0), visit(1, 30 * 86_400 + 5, 5)],
    [-7 * 86_400, 5, 7 * 86_400 + 5, 1],
    -1e9,
  ],
];
for (const [fact, reports, is, notBefore] of rows)
  test(fact, () => assert.deepEqual(shown(countAll(reports, notBefore)), is));

const erasedRows: [fact: string, reports: ReportedVisit[], is: number[] | undefined][] = [
  ["an erased visit that is reported late stays erased", [visit(4, 60, 101)], undefined],
  ["so does one that is reported shorter", [visit(4, 50, 101)], undefined],
  ["and an earlier one", [visit(3, 900, 101)], undefined],
  ["what is played on counts from the erasure", [visit(4, 65, 105)], [100, 105, 5, 1]],
  ["a later visit counts", [visit(5, 2, 110)], [108, 110, 2, 1]],
  [
    "a late report beside what another proxy counted adds nothing",
    [visit(9, 2, 110, "b"), visit(4, 60, 120)],
    [108, 110, 2, 1],
  ],
];
for (const [fact, reports, is] of erasedRows) {
  const erased = { number: 4, ms: 60_000 };
  test(fact, () => {
    const known = reports.reduce<Known | undefined>((before, one) => {
      const bounds = { notBefore: at(100), erased: one.proxy === "a" ? erased : undefined };
      return countVisit(before, one, bounds) ?? before;
    }, undefined);
    assert.deepEqual(shown(known), is);
  });
}

test("the name is the one of the last visit", () => {
  const renamed = { ...visit(2, 10, 120), name: "Alicia" };
  assert.equal(countAll([visit(1, 60, 100), renamed])?.name, "Alicia");
});

describe("whatever order reports come in, and however often,", () => {
  // Two visits of one proxy, 0 to 50 and 70 to 110, reported every ten seconds; each report may be late and come again.
  const whole = [10, 20, 30, 40, 50]
    .map((end) => visit(1, end, end))
    .concat([80, 90, 100, 110].map((end) => visit(2, end - 70, end)));
  let seed = 7;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (let run = 0; run < 200; run++) {
    const sent = whole
      .flatMap((one) => (random() < 0.3 ? [one, one] : [one]))
      .filter(() => random() > 0.1)
      .map((one) => ({ one, late: random() < 0.4 ? random() * 25 : 0 }))
      .sort((a, b) => a.one.end + a.late * 1_000 - (b.one.end + b.late * 1_000))
      .map(({ one, late }) => ({ ...one, end: one.end + Math.round(late * 1_000) }));
    test(`no more is counted than was played (${run})`, () => {
      const played = (countAll(sent)?.playedMs ?? 0) / 1_000;
      assert.ok(played <= 90, `${played} s`);
      const isWhole = sent.some((one) => one.number === 1 && one.lasted === 50_000);
      if (isWhole && sent.every(({ end }, index) => end === whole[index]?.end)) assert.equal(played, 90);
    });
  }
});
