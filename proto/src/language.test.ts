import assert from "node:assert/strict";
import { test } from "node:test";
import { languageOfLocale } from "./language.ts";

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
