import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bannedIn, whitelistedIn } from "./names.ts";

type Replies = Record<string, [reply: string, names: string[]]>;

const whitelists: Replies = {
  "vanilla 1.20": ["There are 2 whitelisted player(s): alice, Bob_2", ["alice", "Bob_2"]],
  "vanilla 1.13": ["There are 3 whitelisted players: a, b, c", ["a", "b", "c"]],
  "vanilla 1.12": [
    "There are 3 (out of 5 seen) whitelisted players:\nalice, bob and carol",
    ["alice", "bob", "carol"],
  ],
  "1.12 over RCON, without the line break": [
    "There are 2 (out of 5 seen) whitelisted players:alice and bob",
    ["alice", "bob"],
  ],
  "Paper with colours": ["§rThere are 1 whitelisted player(s): §aalice§r", ["alice"]],
  nobody: ["There are no whitelisted players", []],
  "Bedrock names keep their dot": ["There are 1 whitelisted player(s): .Steve", [".Steve"]],
  "words that are not names are left out": [
    "There are 2 whitelisted player(s): alice, not a name!",
    ["alice"],
  ],
  "another language": ["Es gibt 2 Spieler: alice, bob", []],
  nothing: ["", []],
};
const bans: Replies = {
  "vanilla 1.20": [
    "There are 2 ban(s):\nalice was banned by Server: Banned by an operator.\nbob was banned by carol: griefing",
    ["alice", "bob"],
  ],
  "vanilla over RCON, without line breaks": [
    "There are 2 ban(s):alice was banned by Server: Banned by an operator.bob was banned by carol: griefing",
    ["alice", "bob"],
  ],
  "addresses are left out": [
    "There are 3 ban(s):\n10.0.0.1 was banned by Server: x\nalice was banned by Server: y.\n::1 was banned by Server: z",
    ["alice"],
  ],
  "addresses behind a full stop": [
    "There are 2 ban(s):alice was banned by Server: gone.10.0.0.1 was banned by Server: x",
    ["alice"],
  ],
  "Paper with colours": ["§6There are 1 ban(s):\n§falice was banned by Server: x", ["alice"]],
  "the old list": ["There are 2 total banned players:\nalice and bob", ["alice", "bob"]],
  nobody: ["There are no bans", []],
  "another language": ["Es gibt 2 Verbannungen", []],
};

for (const [what, replies, read] of [
  ["whitelist", whitelists, whitelistedIn],
  ["ban list", bans, bannedIn],
] as const) {
  describe(what, () => {
    for (const [fact, [reply, names]] of Object.entries(replies))
      test(`is read: ${fact}`, () => assert.deepEqual(read(reply), names));
  });
}
