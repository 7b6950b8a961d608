import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { untilOf } from "./until.ts";

const zone = process.env["TZ"];
before(() => {
  process.env["TZ"] = "Europe/Berlin";
});
after(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

describe("--until of keep-awake", () => {
  // A Friday, two days before the clock goes back.
  const now = new Date("2026-10-23T12:00:00Z");
  const rows: [text: string, at: string | undefined][] = [
    ["90m", "2026-10-23T13:30:00.000Z"],
    ["48h", "2026-10-25T12:00:00.000Z"],
    ["3d", "2026-10-26T12:00:00.000Z"],
    ["22:00", "2026-10-23T20:00:00.000Z"],
    ["13:59", "2026-10-24T11:59:00.000Z"],
    ["14:00", "2026-10-24T12:00:00.000Z"],
    ["sun 22:00", "2026-10-25T21:00:00.000Z"],
    ["Sunday 22:00", "2026-10-25T21:00:00.000Z"],
    ["fri 22:00", "2026-10-23T20:00:00.000Z"],
    ["fri 13:00", "2026-10-30T12:00:00.000Z"],
    ["2026-10-25T22:00", "2026-10-25T21:00:00.000Z"],
    ["2026-10-25 22:00", "2026-10-25T21:00:00.000Z"],
    ["2026-10-25T22:00Z", "2026-10-25T22:00:00.000Z"],
    ["2026-10-25T22:00+09:00", "2026-10-25T13:00:00.000Z"],
    ["", undefined],
    ["soon", undefined],
    ["25:00", undefined],
    ["22:60", undefined],
    ["xyz 22:00", undefined],
    ["2026-10-25", undefined],
    ["2026-13-45T22:00", undefined],
    ["3w", undefined],
  ];
  for (const [text, at] of rows)
    test(`${JSON.stringify(text)} is ${at ?? "refused"}`, () =>
      assert.equal(untilOf(text, now)?.toISOString(), at));
});
