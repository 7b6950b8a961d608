import assert from "node:assert/strict";
import { test } from "node:test";
import { languageOf } from "./language.ts";

const cases: [header: string | undefined, language: string | undefined][] = [
  [undefined, undefined],
  ["", undefined],
  ["*", undefined],
  ["de-DE,fr;q=0.9", undefined],
  ["zh-CN,zh;q=0.9,en;q=0.8", "zh"],
  ["en-US,en;q=0.9,zh;q=0.8", "en"],
  ["de, en;q=0.3, zh-Hant-TW;q=0.7", "zh"],
  ["EN", "en"],
  ["zh;q=0, en;q=0.1", "en"],
  ["zh;q=2, zhx, -zh", undefined],
  [`${"de,".repeat(30)}zh`, undefined],
];

for (const [header, language] of cases) {
  test(`Accept-Language ${JSON.stringify(header)} selects ${language ?? "no language"}`, () => {
    assert.equal(languageOf(header), language);
  });
}
