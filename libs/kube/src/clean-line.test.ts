import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanLine } from "./clean-line.ts";

const lines: Record<string, [bytes: string | number[], shown: string]> = {
  "plain text stays": ["[12:00:00 INFO]: hi\tthere", "[12:00:00 INFO]: hi\tthere"],
  "other scripts and the game's colours stay": ["§aÜber 你好 😀", "§aÜber 你好 😀"],
  "colours of terminals go": ["\u001b[33;1mwarn\u001b[0m", "warn"],
  "true colours go": ["\u001b[38;2;255;0;0mred\u001b[m", "red"],
  "moving and clearing goes": ["\u001b[2J\u001b[1;1Hhi\u001b[K", "hi"],
  "a title ended by a bell goes": ["\u001b]0;title\u0007hi", "hi"],
  "a link goes, its text stays": ["\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\", "text"],
  "a lonely escape goes": ["a\u001b", "a"],
  "one-byte CSI goes": ["a\u009b31mb", "ab"],
  "a carriage return goes": ["hi\r", "hi"],
  "an event cannot be forged": ["x\r\revent: revoked\r\rdata: y", "xevent: revokeddata: y"],
  "line separators go": ["a\u2028b\u2029c\u0085d", "abcd"],
  "NUL and bells go": ["a\0b\u0007c", "abc"],
  "what turns text around goes": ["a\u202egnp.exe\u2066b", "agnp.exeb"],
  "broken bytes are marked": [[0x61, 0xff, 0xfe, 0x62], "a\ufffd\ufffdb"],
  "half a character at the end is marked": [[0x61, 0xe2, 0x98], "a\ufffd"],
  "an empty line stays one": ["", ""],
};
for (const [fact, [bytes, shown]] of Object.entries(lines)) {
  test(`a line is made safe: ${fact}`, () => {
    const raw = typeof bytes === "string" ? Buffer.from(bytes) : Buffer.from(bytes);
    assert.equal(cleanLine(raw, 4_096), shown);
  });
}

test("a long line is cut and marked, never inside a character", () => {
  assert.equal(cleanLine(Buffer.from("x".repeat(30)), 20), `${"x".repeat(20)}…`);
  assert.equal(cleanLine(Buffer.from(`${"x".repeat(19)}😀😀`), 20), `${"x".repeat(19)}…`);
});

test("any bytes become one line without control characters", () => {
  let seed = 7;
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648);
  for (let round = 0; round < 2_000; round++) {
    const bytes = Buffer.from(Array.from({ length: next() % 40 }, () => (next() >> 8) % 256));
    assert.doesNotMatch(cleanLine(bytes, 4_096), /(?!\t)[\p{Cc}\u2028\u2029]/u, bytes.toString("hex"));
  }
});

test("the worst line takes linear time", () => {
  const startedAt = performance.now();
  for (const part of ["\u001b", "\u001b[", "\u001b[0;", "\u001b]", "\u009b0"])
    cleanLine(Buffer.from(part.repeat(2_000)), 4_096);
  assert.ok(performance.now() - startedAt < 500);
});
