import assert from "node:assert/strict";
import { test } from "node:test";
import { readCommand } from "./command-text.ts";

const sent: Record<string, [text: string, command: string]> = {
  "a plain command": ["say hi", "say hi"],
  "a leading slash is dropped": ["/say hi", "say hi"],
  "only one slash is dropped": ["//wand", "/wand"],
  "spaces around it go, also behind the slash": ["  / list  ", "list"],
  "quotes, braces and other scripts stay": [
    'tellraw @a {"text":"你好 ☃ 😀"}',
    'tellraw @a {"text":"你好 ☃ 😀"}',
  ],
  "1024 characters": ["x".repeat(1_024), "x".repeat(1_024)],
  "1024 characters behind a slash": [`/${"x".repeat(1_024)}`, "x".repeat(1_024)],
  "1446 bytes": ["é".repeat(723), "é".repeat(723)],
  "a backslash and an n are two characters": ["say a\\nb", "say a\\nb"],
};
for (const [fact, [text, command]] of Object.entries(sent)) {
  test(`a command is taken: ${fact}`, () => assert.deepEqual(readCommand(text), { command }));
}

const smuggled: Record<string, string> = {
  "a line feed": "say hi\nop eve",
  "a carriage return": "say hi\rop eve",
  both: "say hi\r\nop eve",
  "a line feed at the end": "say hi\n",
  "a line feed in front": "\nop eve",
  NUL: "say hi\0op eve",
  "a tab": "say\thi",
  "a vertical tab": "say hi\vop eve",
  "a form feed": "say hi\fop eve",
  "an escape": "say \u001b[2J",
  "a backspace": "say hi\b\bop",
  DEL: "say \u007f",
  "next line (U+0085)": "say hi\u0085op eve",
  "line separator (U+2028)": "say hi\u2028op eve",
  "paragraph separator (U+2029)": "say hi\u2029op eve",
  "half a surrogate pair": "say \ud83d",
  "nothing at all": "",
  "spaces alone": "   ",
  "a slash alone": "/",
  "1025 characters": "x".repeat(1_025),
  "1447 bytes": `${"é".repeat(723)}x`,
};
for (const [fact, text] of Object.entries(smuggled)) {
  test(`a command is refused: ${fact}`, () => assert.ok("problem" in readCommand(text)));
}
