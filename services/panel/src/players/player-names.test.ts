import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isPlayerName, missingFrom, parseNames, searchNames } from "./player-names.ts";

describe("pasted names", () => {
  const cases = [
    ["one name", "Notch", ["Notch"], []],
    [
      "lines, commas and spaces separate",
      " alice,bob\r\ncarol ; dave\n\n",
      ["alice", "bob", "carol", "dave"],
      [],
    ],
    ["Chinese commas separate", "alice，bob、carol", ["alice", "bob", "carol"], []],
    ["a name counts once, as it was written first", "Alice alice ALICE", ["Alice"], []],
    ["a name of 16 characters is one", "a234567890123456", ["a234567890123456"], []],
    [
      "what cannot be a name is kept apart",
      "alice a-b a2345678901234567 .bedrock 小明",
      ["alice"],
      ["a-b", "a2345678901234567", ".bedrock", "小明"],
    ],
    [
      "whitelist.json gives its names",
      '[{"uuid":"x","name":"alice"},{"name":"bob"},{"uuid":"y"},3]',
      ["alice", "bob"],
      [],
    ],
    ["a list of texts gives its texts", '["alice", "b b"]', ["alice"], ["b b"]],
    ["a broken file is text", "[alice", [], ["[alice"]],
    ["nothing gives nothing", " \n", [], []],
  ] as const;
  for (const [name, text, names, invalid] of cases)
    test(name, () => assert.deepEqual(parseNames(text), { names: [...names], invalid: [...invalid] }));
});

test("a command cannot hide in a name", () => {
  for (const name of ["a b", "a\nop evil", "@a", "", "§aalice", "a/b"])
    assert.equal(isPlayerName(name), false, name);
});

test("a name that the game refused is missing, whatever the case in which it keeps the others", () => {
  assert.deepEqual(missingFrom(["Alice"], ["alice", "nobody"]), ["nobody"]);
});

test("a search finds parts of names, in order of numbers and without case", () => {
  assert.deepEqual(searchNames(["p10", "P2", "alice"], "p"), ["P2", "p10"]);
  assert.deepEqual(searchNames(["b", "a"], " "), ["a", "b"]);
});
