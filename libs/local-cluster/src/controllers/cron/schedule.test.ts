import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lastDueMs, parseSchedule } from "./schedule.ts";

const due = (schedule: string, time: string) => parseSchedule(schedule)(new Date(time));

describe("a cron schedule", () => {
  const cases: [string, string, boolean][] = [
    ["* * * * *", "2026-01-01T00:00:00Z", true],
    ["*/15 * * * *", "2026-01-01T10:45:00Z", true],
    ["*/15 * * * *", "2026-01-01T10:46:00Z", false],
    ["0 4 * * *", "2026-01-01T04:00:00Z", true],
    ["0 4,16 * * 1-5", "2026-01-02T16:00:00Z", true],
    ["0 4,16 * * 1-5", "2026-01-03T16:00:00Z", false],
    ["0 0 1 * sun", "2026-01-04T00:00:00Z", true],
    ["0 0 1 * sun", "2026-01-01T00:00:00Z", true],
    ["0 0 1 * sun", "2026-01-05T00:00:00Z", false],
    ["0 0 * * 7", "2026-01-04T00:00:00Z", true],
    ["@hourly", "2026-01-04T07:00:00Z", true],
    ["0 0 * feb *", "2026-02-04T00:00:00Z", true],
  ];
  for (const [schedule, time, expected] of cases) {
    it(`"${schedule}" is ${expected ? "" : "not "}due at ${time}`, () => {
      assert.equal(due(schedule, time), expected);
    });
  }

  it("names what is wrong with it", () => {
    assert.throws(() => parseSchedule("61 * * * *"), /"61" is not a number from 0 to 59/);
    assert.throws(() => parseSchedule("* * *"), /does not have five fields/);
    assert.throws(() => parseSchedule("*/0 * * * *"), /bad step/);
  });

  it("finds the latest time that is due after the last run", () => {
    const schedule = parseSchedule("0 * * * *");
    const nowMs = Date.parse("2026-01-01T10:30:00Z");
    assert.equal(lastDueMs(schedule, nowMs - 3_600_000, nowMs), Date.parse("2026-01-01T10:00:00Z"));
    assert.equal(lastDueMs(schedule, Date.parse("2026-01-01T10:00:00Z"), nowMs), undefined);
  });
});
