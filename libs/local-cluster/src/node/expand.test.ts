import assert from "node:assert/strict";
import { test } from "node:test";
import { expand } from "./expand.ts";

const values = { A: "one", "B.c": "two" };
const texts: Record<string, string> = {
  "": "",
  plain: "plain",
  "$(A)": "one",
  "x$(A)$(B.c)y": "xonetwoy",
  "$(C) stays": "$(C) stays",
  $$: "$",
  "$$(A)": "$(A)",
  "$$$(A)": "$one",
  "$(A": "$(A",
  "$A and $": "$A and $",
  "$()": "$()",
  "$($(A)": "$($(A)",
  "a) $(A)": "a) one",
};
for (const [text, expected] of Object.entries(texts))
  test(`${text || "nothing"} becomes ${expected || "nothing"}`, () =>
    assert.equal(expand(text, values), expected));
