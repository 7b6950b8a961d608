import assert from "node:assert/strict";
import { test } from "node:test";
import { endOf, momentOf } from "./time.ts";

const now = new Date("2026-11-20T12:00:00.000Z");

test("a moment is a span back from now, a date or a time", () => {
  const cases: [text: string, expected: string][] = [
    ["90s", "2026-11-20T11:58:30.000Z"],
    ["1h", "2026-11-20T11:00:00.000Z"],
    ["2d", "2026-11-18T12:00:00.000Z"],
    ["2026-11-19T14:00:00Z", "2026-11-19T14:00:00.000Z"],
    ["2026-11-19T14:00:00+02:00", "2026-11-19T12:00:00.000Z"],
    ["2026-11-19T14:00Z", "2026-11-19T14:00:00.000Z"],
    ["2026-11-19", new Date("2026-11-19T00:00:00").toISOString()],
  ];
  for (const [text, expected] of cases) assert.equal(momentOf(text, "--since", now).toISOString(), expected);
});

test("what is none says how one is written", () => {
  for (const text of [
    "",
    "yesterday",
    "2026-13-45",
    "2026-02-30",
    "-1h",
    "1",
    "20.11.2026",
    "2026-11-19T99:00:00Z",
  ])
    assert.throws(() => momentOf(text, "--since", now), /--since .*: write a span such as 90s/, text);
});

test("something ends with the whole of a day on this machine, or at a time", () => {
  const cases: [text: string, expected: string][] = [
    ["2026-12-31", new Date("2027-01-01T00:00:00").toISOString()],
    ["2026-02-28", new Date("2026-03-01T00:00:00").toISOString()],
    ["2026-12-31T18:00:00Z", "2026-12-31T18:00:00.000Z"],
    ["2026-12-31T18:00", new Date("2026-12-31T18:00:00").toISOString()],
  ];
  for (const [text, expected] of cases) assert.equal(endOf(text, "--until").toISOString(), expected, text);
});

test("an end that is none says how one is written", () => {
  for (const text of ["", "tomorrow", "2d", "2026-02-30", "2026-12-32", "31.12.2026", "2026-12-31T25:00Z"])
    assert.throws(
      () => endOf(text, "--until"),
      /--until .*: write a date such as 2026-12-31, which counts to its end/,
      text,
    );
});
