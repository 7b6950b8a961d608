import assert from "node:assert/strict";
import { test } from "node:test";
import { shortReason } from "./reason.ts";

test("a short message is shown whole, in one line", () => {
  assert.equal(shortReason("Expected values\n\n  1 !== 2\n"), "Expected values 1 !== 2");
});

test("of what a program printed the last error is shown, without its stack", () => {
  const printed = [
    ...Array.from({ length: 20 }, (_, at) => `step ${at}: 10.0 s`),
    "Error: an older one",
    "    at main (file.ts:1:1)",
    "AssertionError [ERR_ASSERTION]: wake files: it is busy",
    "    at play (compose-inside.ts:120:5)",
    "    at async main (compose-inside.ts:200:5) {",
    "  code: 'ERR_ASSERTION'",
    "}",
  ].join("\n");
  assert.equal(
    shortReason(printed),
    "AssertionError [ERR_ASSERTION]: wake files: it is busy code: 'ERR_ASSERTION' }",
  );
});

test("a long message without an error is cut", () => {
  assert.equal(shortReason("x".repeat(1_000)), "x".repeat(240));
});
