import assert from "node:assert/strict";
import { test } from "node:test";
import { durationText, type StartOutlook, startOutlookOf } from "./start-outlook.ts";

const now = Date.parse("2026-01-01T12:00:00.000Z");
const ago = (seconds: number) => new Date(now - seconds * 1_000).toISOString();
const startEstimate = { p50: 40, p95: 70 };

const rows: Record<string, [Parameters<typeof startOutlookOf>[0], StartOutlook]> = {
  "a server that is not known promises nothing": [undefined, { kind: "unknown" }],
  "nor does one that has never started": [{ startRequestedAt: ago(5) }, { kind: "unknown" }],
  "one asleep takes as long as usual": [{ startEstimate }, { kind: "about", seconds: 40 }],
  "one that starts takes the rest of it": [
    { startEstimate, startRequestedAt: ago(12) },
    { kind: "about", seconds: 30 },
  ],
  "the last ten seconds are counted": [
    { startEstimate, startRequestedAt: ago(37.5) },
    { kind: "about", seconds: 3 },
  ],
  "a long wait is counted in steps of ten": [
    { startEstimate: { p50: 93, p95: 100 }, startRequestedAt: ago(1) },
    { kind: "about", seconds: 100 },
  ],
  "half of the starts take longer, so nothing runs out": [
    { startEstimate, startRequestedAt: ago(40) },
    { kind: "soon" },
  ],
  "at p95 it is still usual": [{ startEstimate, startRequestedAt: ago(70) }, { kind: "soon" }],
  "after p95 it is not": [{ startEstimate, startRequestedAt: ago(70.1) }, { kind: "late" }],
  "a clock that is behind adds nothing": [
    { startEstimate, startRequestedAt: ago(-9) },
    { kind: "about", seconds: 40 },
  ],
};
for (const [fact, [server, expected]] of Object.entries(rows))
  test(fact, () => assert.deepEqual(startOutlookOf(server, now), expected));

test("what takes two minutes or more is said in minutes", () => {
  assert.deepEqual(
    [5, 110, 120, 170].map((seconds) => durationText(seconds, "en")),
    ["5 s", "110 s", "2 min", "3 min"],
  );
  assert.equal(durationText(40, "zh"), "40 秒");
});
