import assert from "node:assert/strict";
import { test } from "node:test";
import { commandHint } from "./hint.ts";

test("a command names the folder only where it must, as one word of a shell", () => {
  const cases: [words: string, data: string | undefined, expected: string][] = [
    ["status", undefined, "npm run svc -- status"],
    ["status", "/tmp/cli-data", "npm run svc -- status --data /tmp/cli-data"],
    ["", "/tmp/a b", "npm run svc -- --data '/tmp/a b'"],
    ["", "/tmp/it's", "npm run svc -- --data '/tmp/it'\\''s'"],
    ["", undefined, "npm run svc"],
  ];
  for (const [words, data, expected] of cases) assert.equal(commandHint("svc", words, data), expected);
});
