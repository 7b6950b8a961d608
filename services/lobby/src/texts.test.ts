import assert from "node:assert/strict";
import { test } from "node:test";
import { sayTo } from "@svc/proto/language";
import { errorText } from "./texts.ts";

const say = sayTo(() => "en_us");

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
    assert.match(errorText({ code, message }, say), expected);
  });
}

test("a long message of the proxy is cut", () => {
  assert.equal(errorText({ code: "x", message: "a".repeat(9_999) }, say).length, 300);
});
