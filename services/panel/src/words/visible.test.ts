import assert from "node:assert/strict";
import { test } from "node:test";
import { visible } from "./visible.ts";

const cases = [
  ["plain text stays", "plain 世界 مرحبا", "plain 世界 مرحبا"],
  ["an escape becomes its picture", "\u001b[31m", "␛[31m"],
  ["a turn of direction becomes its number", "\u202egpj.exe", "[U+202E]gpj.exe"],
  ["what hides becomes its number", "a\u200bb\ufeff", "a[U+200B]b[U+FEFF]"],
  ["a family stays together", "👩‍👩‍👧‍👦 🏴‍☠️", "👩‍👩‍👧‍👦 🏴‍☠️"],
  ["a joiner between letters becomes its number", "a\u200db", "a[U+200D]b"],
  ["lines and tabs stay", "a\n\tb", "a\n\tb"],
] as const;
for (const [name, text, expected] of cases) test(name, () => assert.equal(visible(text), expected));
