import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration, parseSize } from "./values.ts";

const spans: [string, number | undefined][] = [
  ["500ms", 500],
  ["30s", 30_000],
  ["10m", 600_000],
  ["1h30m", 5_400_000],
  ["15d", 1_296_000_000],
  ["3mo", 7_776_000_000],
  ["0s", 0],
  ["1.5s", 1_500],
  ["", undefined],
  ["30", undefined],
  ["-5s", undefined],
  ["5 s", undefined],
  ["5y", undefined],
];

for (const [text, wanted] of spans) {
  test(`the duration ${JSON.stringify(text)} is ${wanted === undefined ? "rejected" : `${wanted} ms`}`, () => {
    assert.equal(parseDuration(text), wanted);
  });
}

const sizes: [string, number | undefined][] = [
  ["1024", 1024],
  ["4Gi", 4 * 2 ** 30],
  ["500M", 500e6],
  ["1.5Ki", 1536],
  ["-1Gi", undefined],
  ["4GB", undefined],
];

for (const [text, wanted] of sizes) {
  test(`the size ${JSON.stringify(text)} is ${wanted === undefined ? "rejected" : `${wanted} bytes`}`, () => {
    assert.equal(parseSize(text), wanted);
  });
}
