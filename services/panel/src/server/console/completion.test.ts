import assert from "node:assert/strict";
import { test } from "node:test";
import { completionsOf } from "./completion.ts";

test("commands complete at the start, after that their words or players, and earlier lines as a whole", () => {
  const known = { players: ["Steve", "Alex"], history: ["kick Alex spam", "say hi", "kick Steve afk"] };
  const cases: [string, string[]][] = [
    ["", []],
    ["  ", []],
    ["sa", ["say hi", "save-all", "say"]],
    ["/sa", ["/save-all", "/say"]],
    ["say hi", []],
    ["kick ", ["kick Steve afk", "kick Alex spam", "kick Steve", "kick Alex"]],
    ["kick Al", ["kick Alex spam", "kick Alex"]],
    ["give Alex s", ["give Alex Steve"]],
    ["gamemode c", ["gamemode creative"]],
    ["gamemode creative s", ["gamemode creative Steve"]],
    ["time set n", ["time set noon", "time set night"]],
    ["constructor s", ["constructor Steve"]],
    ["zzz", []],
  ];
  for (const [typed, expected] of cases) assert.deepEqual(completionsOf(typed, known), expected, typed);
  assert.deepEqual(completionsOf("s", { players: [], history: [] }).length, 6);
});
