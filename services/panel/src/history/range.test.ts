import assert from "node:assert/strict";
import { test } from "node:test";
import { isQuiet, rangeOf, type ServerHistory, spanOf } from "./range.ts";

test("an address names a range; anything else is a day", () => {
  const queries = [{ range: "7d" }, { range: "30d" }, {}, { range: "8d" }, { range: 7 }, { range: ["7d"] }];
  assert.deepEqual(queries.map(rangeOf), ["7d", "30d", "24h", "24h", "24h", "24h"]);
});

const history = (changes: Partial<ServerHistory> = {}): ServerHistory => ({
  ...{ server: "survival", range: "24h", from: "2026-03-02T10:00:00.000Z", step_seconds: 300 },
  ...{ players: [null, null], players_max: [null, null], memory_bytes: [null, null] },
  ...{ cpu_milli: [null, null], tps: [null, null], phases: [], starts: [] },
  ...changes,
});

test("a span ends with the last step", () => {
  const { from, to } = spanOf(history());
  assert.deepEqual([new Date(from).toISOString(), to - from], ["2026-03-02T10:00:00.000Z", 600_000]);
});

test("a history is quiet until a phase or a value is known, and 0 is one", () => {
  assert.ok(isQuiet(history()));
  assert.ok(!isQuiet(history({ players: [null, 0] })));
  assert.ok(!isQuiet(history({ phases: [{ at: "2026-03-02T10:00:00.000Z", phase: "Stopped" }] })));
});
