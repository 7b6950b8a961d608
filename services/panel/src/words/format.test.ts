import assert from "node:assert/strict";
import { test } from "node:test";
import { formatBytes, formatClock, formatQuantity, formatTime, timeHoldsMs } from "./format.ts";
import { chooseLanguage } from "./language.ts";

test("sizes have binary units", () => {
  const cases = [
    [0, "0 B"],
    [1_023, "1,023 B"],
    [1_536, "1.5 KiB"],
    [200 * 1_024 ** 2, "200 MiB"],
    [5 * 1_024 ** 4, "5 TiB"],
  ] as const;
  for (const [bytes, expected] of cases) assert.equal(formatBytes(bytes, "en"), expected);
});

test("quantities of settings have the units of sizes, and others stay as they are", () => {
  const cases = [
    ["2Gi", "2 GiB"],
    ["1.5Gi", "1.5 GiB"],
    ["512Mi", "512 MiB"],
    ["2G", "2G"],
    ["500m", "500m"],
  ] as const;
  for (const [quantity, expected] of cases) assert.equal(formatQuantity(quantity), expected);
});

test("times are relative up to a day", () => {
  const now = Date.UTC(2026, 0, 2, 12);
  assert.equal(formatTime(now - 40_000, now, "en"), "40 seconds ago");
  assert.equal(formatTime(now + 5 * 60_000, now, "en"), "in 5 minutes");
  assert.equal(formatTime(now - 3 * 3_600_000, now, "zh-CN"), "3小时前");
  assert.match(formatTime(now - 3 * 86_400_000, now, "en"), /Dec 30, 2025/);
});

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
for (const [sentence, distance] of [
  ["a moment ago", -400],
  ["seconds ago", -40 * second],
  ["just below a minute ago", -59.4 * second],
  ["minutes ago", -5 * minute - 100],
  ["an hour ago", -hour],
  ["hours ago", -22.6 * hour],
  ["in seconds", 12.3 * second],
  ["in a minute", 61 * second],
  ["in an hour", 61 * minute],
  ["in hours", 23.4 * hour],
  ["in days", 3 * day],
] as const) {
  test(`the words of a moment ${sentence} hold exactly as long as is said`, () => {
    const now = Date.UTC(2026, 0, 2, 12);
    const holds = timeHoldsMs(now + distance, now);
    const at = (later: number) => formatTime(now + distance, now + later, "en");
    assert.equal(at(Math.max(0, holds - 2)), at(0));
    assert.notEqual(at(holds + 2), at(0));
  });
}

test("a date that has passed stays a date", () => {
  assert.equal(timeHoldsMs(0, 2 * day), Infinity);
});

test("a clock has minutes and seconds", () => {
  assert.deepEqual([0, 9.2, 75, -3].map(formatClock), ["0:00", "0:10", "1:15", "0:00"]);
});

test("the language is the chosen one, else the browser's, else English", () => {
  assert.equal(chooseLanguage("zh-CN", ["en"]), "zh-CN");
  assert.equal(chooseLanguage("xx", ["de", "zh-TW", "en"]), "zh-CN");
  assert.equal(chooseLanguage(null, ["de-DE", "en-GB"]), "en");
  assert.equal(chooseLanguage(null, ["de"]), "en");
});
