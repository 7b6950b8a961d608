import assert from "node:assert/strict";
import { test } from "node:test";
import { doneText, failedText } from "./unzip.ts";

const many = Array.from({ length: 200 }, (_, n) => `world/${n}`);

test("an extraction that failed says why, and which option gets around it", () => {
  const cases: [error: Parameters<typeof failedText>[0], says: RegExp][] = [
    [undefined, /^nothing was extracted; try again$/],
    [
      { code: "file_exists", message: "x", conflicts: ["a", "b\u001b[2J"], conflict_count: 2 },
      /with --overwrite:\n {2}a\n {2}b\ufffd\[2J$/,
    ],
    [
      { code: "file_exists", message: "x", conflicts: many, conflict_count: 900 },
      / {2}world\/19\n {2}\.\.\. and 880 more$/,
    ],
    [
      { code: "bad_path", message: "server.properties is protected." },
      /^nothing was extracted: server\.properties is protected\. Leave such files out with --skip-protected\.$/,
    ],
    [
      { code: "volume_full", message: "The volume is full." },
      /^nothing was extracted: The volume is full\.$/,
    ],
  ];
  for (const [error, says] of cases) assert.match(failedText(error), says);
});

test("an extraction that left files out names them", () => {
  const op = { path: "old.zip", files: 2, bytes: 2048 };
  assert.equal(doneText(op), "old.zip is extracted: 2 files, 2.0 KiB.");
  const left = { ...op, left_out: ["server.properties"], left_out_count: 1 };
  assert.match(doneText(left), /\nLeft out, .*:\n {2}server\.properties$/);
});
