import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText } from "./text.ts";

const cases: [component: unknown, text: string][] = [
  ["hello", "hello"],
  [{ text: "a", color: "yellow", extra: [{ text: "b" }, "c", { text: "", extra: ["d"] }] }, "abcd"],
  [["", { text: "one " }, { text: "two" }], "one two"],
  [{ translate: "chat.type.text" }, "chat.type.text"],
  [{ text: 5 }, "5"],
  [null, ""],
  [{}, ""],
];

test("a text component reads as its plain text", () => {
  for (const [component, text] of cases) assert.equal(plainText(component), text);
});
