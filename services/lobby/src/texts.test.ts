import assert from "node:assert/strict";
import { test } from "node:test";
import { errorText, textsOf } from "./texts.ts";

test("every sentence is said in both languages", () => {
  const flat = (value: unknown): string[] => {
    if (typeof value === "function") return [String(value(7, 9))];
    return typeof value === "object" && value ? Object.values(value).flatMap(flat) : [String(value)];
  };
  const english = textsOf("en");
  for (const [key, value] of Object.entries(textsOf("zh"))) {
    const texts = flat(value);
    assert.equal(texts.length, flat(Object.entries(english).find(([name]) => name === key)?.[1]).length, key);
    for (const text of texts) assert.match(text, /\p{Script=Han}/u, key);
  }
});

const errors: [string | null, string | null, RegExp][] = [
  ["not_linked", "raw", /type \/link/],
  ["quota_exceeded", "raw", /as many servers as you are allowed/],
  ["already_claimed", "raw", /Somebody else claimed this server first/],
  ["busy", "raw", /try again in a moment/],
  ["not_found", "raw", /no longer exists/],
  ["maintenance", "Back at noon.", /^Back at noon\.$/],
  ["maintenance", "§cBack §lat noon.", /^Back at noon\.$/],
  ["maintenance", "", /did not work/],
  [null, null, /did not work/],
  ["toString", null, /did not work/],
];
for (const [code, message, expected] of errors) {
  test(`an error ${code} with "${message}" reads ${expected}`, () => {
    assert.match(errorText({ code, message }, "en"), expected);
  });
}

test("a long message of the proxy is cut", () => {
  assert.equal(errorText({ code: "x", message: "a".repeat(9_999) }, "en").length, 300);
});
