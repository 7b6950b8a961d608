import assert from "node:assert/strict";
import { test } from "node:test";
import { type Crash, currentCrash } from "./current.ts";

const now = Date.parse("2026-03-02T10:00:00.000Z");
const crash = (minutesAgo: number): Crash => ({
  id: String(minutesAgo),
  at: new Date(now - minutesAgo * 60_000).toISOString(),
  cause: "unknown",
  ran_seconds: 1,
  was_running: true,
});

const table: [what: string, crashes: Crash[], phase: string, expected: string | undefined][] = [
  ["none", [], "Failed", undefined],
  ["the newest one", [crash(5), crash(50)], "Starting", "5"],
  ["one of yesterday, of a server that does not run", [crash(23 * 60)], "Failed", "1380"],
  ["one of more than a day ago", [crash(25 * 60)], "Stopped", undefined],
  ["one of less than an hour ago, of a server that runs again", [crash(59)], "Running", "59"],
  ["one of more than an hour ago, of a server that runs again", [crash(61)], "Running", undefined],
];
for (const [what, crashes, phase, expected] of table)
  test(`an overview speaks of a crash: ${what}`, () =>
    assert.equal(currentCrash(crashes, phase, now)?.id, expected));
