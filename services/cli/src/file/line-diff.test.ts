import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lineDiff } from "./line-diff.ts";

describe("the lines that differ", () => {
  const cases: Record<string, [before: string, after: string, diff: string[]]> = {
    "are none of the same text": ["a\nb", "a\nb", []],
    "are the changed one": ["a\nb\nc", "a\nx\nc", ["-2: b", "+2: x"]],
    "are those that were added at the end": ["a", "a\nb", ["+2: b"]],
    "are those that were removed at the beginning": ["a\nb", "b", ["-1: a"]],
    "count a repeated line once": ["a\na", "a\na\na", ["+3: a"]],
    "are all when nothing is common": ["a", "b", ["-1: a", "+1: b"]],
  };
  for (const [fact, [before, after, diff]] of Object.entries(cases))
    test(fact, () => assert.deepEqual(lineDiff(before, after), diff));
});
