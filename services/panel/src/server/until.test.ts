import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fieldOf } from "../words/local-time.ts";
import { untilOf } from "./until.ts";

const dayMs = 86_400_000;
const zone = "Europe/Berlin";

describe("until when a server is kept awake", () => {
  const now = Date.parse("2026-10-23T12:00:00Z");
  const rows: [fact: string, field: string, until: ReturnType<typeof untilOf>][] = [
    ["a time before the clock changes", "2026-10-24T22:00", { at: "2026-10-24T20:00:00.000Z" }],
    [
      "a time after it, which is an hour later in UTC",
      "2026-10-25T22:00",
      { at: "2026-10-25T21:00:00.000Z" },
    ],
    [
      "a time that the clock shows twice is the first one",
      "2026-10-25T02:30",
      { at: "2026-10-25T00:30:00.000Z" },
    ],
    ["seconds of a browser", "2026-10-24T22:00:00", { at: "2026-10-24T20:00:00.000Z" }],
    ["nothing", "", { problem: "empty" }],
    ["half a time", "2026-10-24", { problem: "empty" }],
    ["a time that is over", "2026-10-23T13:59", { problem: "past" }],
    ["this very minute", "2026-10-23T14:00", { problem: "past" }],
    ["the latest that is allowed", "2026-10-30T13:00", { at: "2026-10-30T12:00:00.000Z" }],
    ["a minute later", "2026-10-30T13:01", { problem: "late" }],
  ];
  for (const [fact, field, until] of rows)
    test(fact, () => assert.deepEqual(untilOf(field, { now, longestMs: 7 * dayMs, zone }), until));

  test("the field shows a moment in the time of the device, on both sides of a change", () => {
    assert.equal(fieldOf("2026-10-24T20:00:00Z", zone), "2026-10-24T22:00");
    assert.equal(fieldOf("2026-10-25T21:00:59Z", zone), "2026-10-25T22:00");
  });
});
