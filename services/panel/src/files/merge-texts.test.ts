import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeTexts } from "./merge-texts.ts";

const merge = (base: string, mine: string, theirs: string) => {
  const [one, two, three] = [base, mine, theirs].map((text) => [...text].join("\n")) as [
    string,
    string,
    string,
  ];
  return mergeTexts({ base: one, mine: two, theirs: three }, "\n")?.replaceAll("\n", "");
};

test("changes of different lines are put together, those of the same line are not", () => {
  const cases = [
    ["nobody changed anything", "abcde", "abcde", "abcde", "abcde"],
    ["one side alone", "abcde", "abcde", "axcde", "axcde"],
    ["a line each", "abcde", "xbcde", "abcdy", "xbcdy"],
    ["a line more and a line less", "abcde", "abxcde", "abce", "abxce"],
    ["a line more at both ends", "abc", "xabc", "abcy", "xabcy"],
    ["the same line to the same", "abc", "axc", "axc", "axc"],
    ["the same and another one", "abcde", "xbcde", "xbcdy", "xbcdy"],
    ["the same line", "abc", "axc", "ayc", undefined],
    ["lines beside each other", "abcd", "axcd", "abyd", undefined],
    ["a changed line that is gone", "abc", "axc", "ac", undefined],
    ["other lines more at one place", "abc", "abxc", "abyc", undefined],
  ] as const;
  for (const [fact, base, mine, theirs, merged] of cases)
    assert.equal(merge(base, mine, theirs), merged, fact);
});

test("lines of Windows stay what they are", () => {
  const texts = { base: "a\r\nb\r\nc\r\n", mine: "x\r\nb\r\nc\r\n", theirs: "a\r\nb\r\ny\r\n" };
  assert.equal(mergeTexts(texts, "\r\n"), "x\r\nb\r\ny\r\n");
});
