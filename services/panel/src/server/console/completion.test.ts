import assert from "node:assert/strict";
import { test } from "node:test";
import { completionsOf } from "./completion.ts";

test("commands complete at the start, players after that", () => {
  const players = ["Steve", "Alex"];
  const cases: [string, string[]][] = [
    ["", []],
    ["  ", []],
    ["sa", ["save-all", "say"]],
    ["say", []],
    ["kick ", ["kick Steve", "kick Alex"]],
    ["kick st", ["kick Steve"]],
    ["give Alex s", ["give Alex Steve"]],
    ["zzz", []],
  ];
  for (const [typed, expected] of cases) assert.deepEqual(completionsOf(typed, players), expected, typed);
});
