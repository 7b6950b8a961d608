import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../words/en/index.ts";
import { formatDate } from "../words/format.ts";
import { accessTexts } from "./access-text.ts";

test("an entry of shared access is told by whose it is, what was given and what was taken", () => {
  const was = "2026-12-01T00:00:00.000Z";
  const access = {
    ...{ account: "bob", given: ["power", "newer"], taken: ["command"], ends_at: { was } },
    limits: [
      { limit: "read_paths", was: ["world"], now: ["plugins", "logs"] },
      { limit: "allow_commands", was: ["op"] },
    ],
  };
  assert.deepEqual(accessTexts({ access }, { words: en, language: "en" }), [
    "Access of bob",
    "Given: Start and stop, newer",
    "Taken: Run commands",
    "Reads only: plugins, logs (before: world)",
    "Only the commands: all (before: op)",
    `Ends never (before: ${formatDate(Date.parse(was), "en")})`,
  ]);
  assert.deepEqual(accessTexts({}, { words: en, language: "en" }), []);
});
