import assert from "node:assert/strict";
import { test } from "node:test";
import { languageOfLocale, type Sentence, say, sayInAll, sayTo } from "./language.ts";

const locales: [string, string][] = [
  ["en_us", "en"],
  ["zh_cn", "zh"],
  ["zh_TW", "zh"],
  ["zh-Hans", "zh"],
  ["zh", "zh"],
  ["ZH_HK", "zh"],
  ["de_de", "en"],
  ["zhx_aa", "en"],
  ["", "en"],
];
for (const [locale, language] of locales)
  test(`a client in "${locale}" reads ${language}`, () => assert.equal(languageOfLocale(locale), language));

const joined = { en: "{player} joined {server}.", zh: "{player} 加入了 {server}。" } as const;

test("values are filled in once, whatever they hold", () => {
  assert.equal(say(joined, "en", { player: "{server}", server: "$& spawn" }), "{server} joined $& spawn.");
});

test("a value that is missing stays a name in braces", () => {
  const loaded: Sentence = joined;
  assert.equal(say(loaded, "zh", { player: "Ada" }), "Ada 加入了 {server}。");
});

test("all languages are said one after the other", () => {
  assert.equal(sayInAll({ en: "Stop.", zh: "关闭。" }, "\n"), "Stop.\n关闭。");
});

test("the language follows the locale of the client", () => {
  let locale = "de_de";
  const speak = sayTo(() => locale);
  assert.equal(speak({ en: "Stop.", zh: "关闭。" }), "Stop.");
  locale = "zh_tw";
  assert.equal(speak({ en: "Stop.", zh: "关闭。" }), "关闭。");
});
