import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsOf } from "./list.ts";

test("who plays where is a table, and nobody is a sentence", () => {
  assert.equal(wordsOf([]), "No players are online.");
  const about = { mc_uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5", since: "2026-01-01T00:00:00.000Z" };
  const words = wordsOf([
    { ...about, name: "alice", server: "survival", proxy: "host-1" },
    { ...about, name: "bob", proxy: "host-1" },
  ]);
  assert.deepEqual(words.split("\n"), [
    "PLAYER  SERVER    SINCE                     UUID                                  PROXY",
    "alice   survival  2026-01-01T00:00:00.000Z  069a79f4-44e9-4726-a5be-fca90e38aaf5  host-1",
    "bob     -         2026-01-01T00:00:00.000Z  069a79f4-44e9-4726-a5be-fca90e38aaf5  host-1",
  ]);
});
