import assert from "node:assert/strict";
import { test } from "node:test";
import { maskPassword } from "./protect.ts";

// However java.util.Properties would read it, the masked text does not contain the password.
const table: [fact: string, text: string, printable: string][] = [
  ["an equals sign", "a=1\nrcon.password=hush\nb=2\n", "a=1\nrcon.password=********\nb=2\n"],
  ["lines of Windows", "rcon.password=hush\r\nb=2\r\n", "rcon.password=********\r\nb=2\r\n"],
  ["a colon and spaces", "  rcon.password : hush\n", "  rcon.password : ********\n"],
  ["a space alone", "rcon.password hush\n", "rcon.password ********\n"],
  ["a value over two lines", "rcon.password=hu\\\n  sh\nb=2\n", "rcon.password=********\nb=2\n"],
  ["one over two lines of Windows", "rcon.password=hu\\\r\n  sh\r\nb=2", "rcon.password=********\r\nb=2"],
  ["a key with an escape", "rcon\\.password=hush", "rcon\\.password=********"],
  [
    "two of them",
    "rcon.password=hush\nrcon.password=hush2",
    "rcon.password=********\nrcon.password=********",
  ],
  ["no value", "rcon.password=\nb=2\n", "rcon.password=********\nb=2\n"],
  ["another key", "rcon.passwords=3\nrcon.port=25575\n", "rcon.passwords=3\nrcon.port=25575\n"],
];
for (const [fact, text, printable] of table)
  test(`the password is masked: ${fact}`, () => assert.equal(maskPassword(text), printable));
