import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { endOf, laterOf, momentOf } from "./time.ts";

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

describe("a time to come", () => {
  const zone = process.env["TZ"];
  before(() => {
    process.env["TZ"] = "Europe/Berlin";
  });
  after(() => {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  });
  // A Friday, two days before the clock goes back.
  const friday = new Date("2026-10-23T12:00:00Z");
  const rows: [text: string, at: string | undefined][] = [
    ["1h30m", "2026-10-23T13:30:00.000Z"],
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
    test(`${JSON.stringify(text)} is ${at ?? "refused"}`, () => {
      const read = () => laterOf(text, "--until", friday).toISOString();
      if (at === undefined) assert.throws(read, /--until .*: write a span such as 48h/);
      else assert.equal(read(), at);
    });
});
