import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import {
  base64OfBytes,
  bytesOfBase64,
  languageOfFile,
  lineBreakOf,
  sha256Hex,
  textOfBytes,
} from "./text-content.ts";

test("bytes survive the way to base64 and back", () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
  assert.deepEqual(bytesOfBase64(base64OfBytes(bytes)), bytes);
  assert.equal(base64OfBytes(new Uint8Array()), "");
});

test("text is told from bytes, and nothing of it is lost", () => {
  const text = "\ufeffmotd=世界\r\n";
  assert.equal(textOfBytes(new TextEncoder().encode(text)), text);
  assert.equal(textOfBytes(Uint8Array.of(0x41, 0, 0x42)), undefined);
  assert.equal(textOfBytes(Uint8Array.of(0xff, 0xfe)), undefined);
  assert.equal(textOfBytes(new Uint8Array()), "");
});

test("lines end as in the file", () => {
  const cases = [
    ["a\nb", "\n"],
    ["a\r\nb\r\n", "\r\n"],
    ["a\r\nb\n", "\n"],
    ["a", "\n"],
    ["", "\n"],
  ] as const;
  for (const [text, expected] of cases) assert.equal(lineBreakOf(text), expected, JSON.stringify(text));
});

test("the name says the language", () => {
  assert.equal(languageOfFile("paper.YML"), "yaml");
  assert.equal(languageOfFile("notes"), "plain");
  assert.equal(languageOfFile("a.constructor"), "plain");
});

test("the digest is the one of the bytes", async () => {
  const bytes = new TextEncoder().encode("a");
  assert.equal(await sha256Hex(bytes), createHash("sha256").update(bytes).digest("hex"));
});
