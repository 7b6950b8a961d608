import assert from "node:assert/strict";
import { test } from "node:test";
import { differingLines } from "./differing-lines.ts";

test("lines that only one side has are found", () => {
  const cases = [
    ["equal texts", "abc", "abc", [], []],
    ["a changed line", "abc", "axc", [2], [2]],
    ["an added line", "ac", "abc", [], [2]],
    ["a removed line", "abc", "ac", [2], []],
    ["an empty text", "", "ab", [], [1, 2]],
    ["a moved line", "abcd", "bcda", [1], [4]],
    ["a repeated line", "aa", "aaa", [], [3]],
    ["changes at both ends", "xabcy", "uabcv", [1, 5], [1, 5]],
  ] as const;
  for (const [name, left, right, onlyLeft, onlyRight] of cases)
    assert.deepEqual(differingLines([...left], [...right]), { left: onlyLeft, right: onlyRight }, name);
});

test("long texts that differ all over are not compared line by line", () => {
  const lines = (word: string) => [
    "same",
    ...Array.from({ length: 3_000 }, (_, at) => `${word} ${at}`),
    "end",
  ];
  const { left, right } = differingLines(lines("a"), lines("b"));
  assert.deepEqual([left.length, left[0], left.at(-1), right.length], [3_000, 2, 3_001, 3_000]);
});
