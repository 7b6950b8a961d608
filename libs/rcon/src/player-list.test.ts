import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePlayerList } from "./player-list.ts";

const readable = {
  "vanilla with names": [
    "There are 2 of a max of 20 players online: alice, bob",
    { online: 2, max: 20, players: ["alice", "bob"] },
  ],
  "vanilla with nobody": ["There are 0 of a max of 20 players online: ", { online: 0, max: 20, players: [] }],
  "the long word maximum": [
    "There are 3 of a maximum of 50 players online",
    { online: 3, max: 50, players: [] },
  ],
  "the older format": ["There are 1/20 players online:\nalice", { online: 1, max: 20, players: ["alice"] }],
  "an out of maximum variant": [
    "There are 4 out of maximum 100 players online.",
    { online: 4, max: 100, players: [] },
  ],
  "hidden players, which are counted": [
    "§6There are §c3/2§6 out of maximum §c20§6 players online.\n§6default§r: alice, [AFK]bob\nadmin: carol",
    { online: 5, max: 20, players: ["alice", "bob", "carol"] },
  ],
  "colour codes between digits and words": [
    "§x§1§2There are §L7§r of a max of §a30 players online:",
    { online: 7, max: 30, players: [] },
  ],
  "text before the count": [
    "[Essentials] There are 1 out of a maximum of 8 players online",
    { online: 1, max: 8, players: [] },
  ],
} as const;

for (const [name, [reply, expected]] of Object.entries(readable)) {
  test(`a list reply is read: ${name}`, () => assert.deepEqual(parsePlayerList(reply), expected));
}

const unreadable = {
  "an empty reply": "",
  "an unknown command": "Unknown or incomplete command, see below for error",
  "a translated reply": "Es sind 2 von maximal 20 Spielern online",
  "a number that no integer holds": "There are 99999999999999999999 of a max of 20 players online:",
};

for (const [name, reply] of Object.entries(unreadable)) {
  test(`a count stays unknown for ${name}`, () => assert.equal(parsePlayerList(reply), undefined));
}

test("a long list reply is cut behind a whole name, and its count is kept", () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `player_${index}`);
  const list = parsePlayerList(`There are 5000 of a max of 9000 players online: ${names.join(", ")}`);
  assert.deepEqual([list?.online, list?.max], [5_000, 9_000]);
  const read = list?.players ?? [];
  assert.ok(read.length > 1_000 && read.length < 2_000, `${read.length} names are read`);
  assert.deepEqual(read, names.slice(0, read.length));
});

test("a name longer than any is left out, and those beside it are not", () => {
  const reply = `There are 3 of a max of 20 players online: alice, ${"[".repeat(9_000)}, [a][b]bob[c]`;
  assert.deepEqual(parsePlayerList(reply)?.players, ["alice", "bob"]);
});
