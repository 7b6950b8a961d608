// The pure rules of the archive.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { chooseRecovery, coverageText } from "./choose.ts";
import { decideRun, isBaseDue } from "./decide.ts";
import type { Run } from "./folder.ts";
import { formatLsn, nextSegment, parseLsn, parseSegment, segmentName, segmentStart } from "./lsn.ts";
import { decideWalDeletions, type KeptRun } from "./retention.ts";
import { isNotThere, restoreCommand } from "./server.ts";

const day = (number: number) => new Date(Date.UTC(2026, 10, number));
const segment = 16n * 1024n * 1024n;

describe("a position", () => {
  for (const [lsn, name] of [
    ["0/1000000", "000000010000000000000001"],
    ["0/FFFFFFFF", "0000000100000000000000FF"],
    ["1/0", "000000010000000100000000"],
    ["2A/FE000028", "000000010000002A000000FE"],
  ] as const) {
    test(`${lsn} is in ${name}`, () => {
      assert.equal(segmentName(1, parseLsn(lsn)), name);
      assert.deepEqual(parseSegment(name), { timeline: 1, start: segmentStart(parseLsn(lsn)) });
      assert.equal(formatLsn(parseLsn(lsn)), lsn);
    });
  }

  test("of the next segment crosses the end of a log", () => {
    assert.equal(formatLsn(nextSegment(parseLsn("0/FF000001"))), "1/0");
  });

  test("that is none is refused, and other files are no segments", () => {
    for (const wrong of ["", "1", "0/", "0/123456789", "x/1"]) assert.throws(() => parseLsn(wrong));
    for (const name of ["00000002.history", "000000010000000000000001.partial", "00000001000000000000000g"])
      assert.equal(parseSegment(name), undefined);
  });
});

describe("a run", () => {
  const newest = { system: "7", timeline: 1, end: 100n };
  for (const [what, server, kind] of [
    ["goes on", { system: "7", timeline: 1, position: 100n }, "continue"],
    ["is not that of another server", { system: "8", timeline: 1, position: 100n }, "begin"],
    ["is not that of another timeline", { system: "7", timeline: 2, position: 100n }, "begin"],
    ["ends when the server was set back", { system: "7", timeline: 1, position: 99n }, "begin"],
  ] as const) {
    test(what, () => assert.equal(decideRun(newest, server).kind, kind));
  }
  test("begins in an empty folder", () => {
    assert.equal(decideRun(undefined, { system: "7", timeline: 1, position: 0n }).kind, "begin");
  });
});

describe("a base backup", () => {
  const facts = { now: 1_000, everyMs: 100, retryMs: 50, lastBase: undefined, failedAt: undefined };
  for (const [what, about, isDue] of [
    ["is due at once in a new run", {}, true],
    ["waits after a failure", { failedAt: 960 }, false],
    ["is tried again", { failedAt: 950 }, true],
    ["is not due before its time", { lastBase: 901 }, false],
    ["is due at its time", { lastBase: 900 }, true],
    ["is due when the last is from the future", { lastBase: 1_001 }, true],
  ] as const) {
    test(what, () => assert.equal(isBaseDue({ ...facts, ...about }), isDue));
  }
});

const base = (number: number, isUsable = true, start = BigInt(number) * segment) => ({
  name: `base-${number}`,
  endedAt: day(number),
  start,
  isUsable,
});
const run = (name: string, from: number, bases: KeptRun["bases"], segments = 0): KeptRun => ({
  name,
  startedAt: day(from),
  bases,
  segments: Array.from({ length: segments }, (_, index) => ({
    name: String(index + 1),
    start: BigInt(index + 1) * segment,
  })),
});
const decide = (runs: KeptRun[], now = 20, keepDays = 7) =>
  decideWalDeletions({ runs, now: day(now), keepMs: keepDays * 86_400_000 });
const nothing = { runs: [], bases: [], segments: [] };

describe("retention", () => {
  test("deletes nothing without a base that is old enough", () => {
    assert.deepEqual(decide([run("a", 14, [base(14), base(15)], 20)]), nothing);
    assert.deepEqual(decide([]), nothing);
  });

  test("keeps the newest base before the time, everything newer, and the log from its beginning on", () => {
    assert.deepEqual(decide([run("a", 1, [base(10), base(12), base(14)], 14)]), {
      runs: [],
      bases: [{ run: "a", name: "base-10" }],
      segments: Array.from({ length: 11 }, (_, index) => ({ run: "a", name: String(index + 1) })),
    });
  });

  test("does not count a base whose log is not there to its end, and keeps it when it is newer", () => {
    assert.deepEqual(decide([run("a", 1, [base(10), base(12, false)])]), nothing);
    assert.deepEqual(decide([run("a", 1, [base(9, false), base(10)])]).bases, [{ run: "a", name: "base-9" }]);
  });

  test("keeps the newest usable base however old it is", () => {
    assert.deepEqual(decide([run("a", 1, [base(2)]), run("b", 3, [])], 300), nothing);
  });

  test("deletes a run without a base that stays, and never the newest", () => {
    assert.deepEqual(decide([run("a", 1, [base(2)], 3), run("b", 4, []), run("c", 5, [base(6)])]), {
      ...nothing,
      runs: ["a", "b"],
    });
    assert.deepEqual(decide([run("a", 1, [base(6)]), run("b", 3, [])]).runs, []);
  });

  test("keeps what is dated in the future", () => {
    assert.deepEqual(decide([run("a", 1, [base(10)]), run("b", 28, [base(29)])]), nothing);
  });
});

function recorded(name: string, ends: readonly number[], until: number): Run {
  return {
    name,
    path: `/wal/${name}`,
    about: { system: "7", timeline: 1, started_at: day(1).toISOString(), from: "0/1000000", reason: "" },
    segments: [],
    partial: undefined,
    received: { until: day(until), lsn: BigInt(until) << 8n },
    bases: ends.map((end) => ({
      name: `base-${end}`,
      path: `/wal/${name}/base-${end}`,
      endedAt: day(end),
      about: {
        start: `0/${end.toString(16).toUpperCase()}00`,
        stop: `0/${end.toString(16).toUpperCase()}00`,
        started_at: day(end).toISOString(),
        ended_at: day(end).toISOString(),
        postgresql: "18.4",
        database: "postgres",
        superuser: "postgres",
        bytes: 1,
      },
    })),
  };
}

describe("a point in time", () => {
  const runs = [recorded("a", [2, 5], 8), recorded("b", [10], 12)];
  const chosen = (number: number) => {
    const choice = chooseRecovery(runs, day(number));
    return choice && [choice.run.name, choice.bases.map(({ name }) => name), Number(choice.until >> 8n)];
  };

  test("is recovered from the newest base before it, and the log until the next", () => {
    assert.deepEqual(chosen(3), ["a", ["base-2"], 5]);
    assert.deepEqual(chosen(6), ["a", ["base-5", "base-2"], 8]);
    assert.deepEqual(chosen(12), ["b", ["base-10"], 12]);
  });

  test("outside, or in a gap, is not covered", () => {
    for (const number of [1, 9, 13]) assert.equal(chosen(number), undefined);
    assert.equal(coverageText([]), "nothing is covered yet");
    assert.match(coverageText(runs), /^covered is from 2026-11-02.* until .*, and from 2026-11-10/);
  });

  test("is never after a base whose log is missing", () => {
    assert.equal(chooseRecovery([recorded("a", [9], 8)], day(9)), undefined);
  });
});

test("the command that copies the log is safe with any name of a folder", () => {
  assert.equal(restoreCommand("/a b/%o'$x"), `cp '/a b/%%o'\\''$x'/%f "%p"`);
});

describe("a server that is recovered", () => {
  const coded = (code: string) => Object.assign(new Error(`connect ${code}`), { code });
  for (const code of ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "57P03", "57P01"])
    test(`is waited for after ${code}`, () => assert.equal(isNotThere(coded(code)), true));
  test("is waited for when it ends while it is asked", () =>
    assert.equal(isNotThere(new Error("Connection terminated unexpectedly")), true));
  for (const code of ["28000", "3D000", "EACCES"])
    test(`is of no use after ${code}`, () => assert.equal(isNotThere(coded(code)), false));
});
