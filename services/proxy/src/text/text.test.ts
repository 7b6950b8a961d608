import assert from "node:assert/strict";
import { test } from "node:test";
import { say, sentenceKeys } from "./text.ts";

test("each sentence has the same values in both languages", () => {
  const valuesOf = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([value]) => value).sort();
  for (const key of sentenceKeys) {
    const [en, zh] = [valuesOf(say(key, "en")), valuesOf(say(key, "zh"))];
    assert.deepEqual(new Set(zh), new Set(en), key);
  }
});

test("values from others can neither colour nor break a line", () => {
  assert.equal(say("refused", "en", { reason: "no\nway §cever" }), "Refused: noway ever");
  assert.equal(say("serverGone", "zh", { server: "spawn" }), "服务器 spawn 已不存在。");
});
