// What comes from outside is read in time that is linear in its size. Each parser gets the worst that its caller admits.

import { describe, test } from "node:test";
import { parsePlayerList } from "@svc/rcon";
import { isUnknownCommand, parseInfoPage } from "../../services/lifecycle/src/console/reply/luck-perms.ts";
import { bannedIn, whitelistedIn } from "../../services/lifecycle/src/console/reply/names.ts";
import { assertLinear, pumped, type Worst } from "./work.ts";

const rconBytes = 1_048_576;

const replies: Record<string, Worst> = {
  "a list reply of open brackets": {
    size: rconBytes,
    input: pumped("There are 1 of a max of 20 players online: ", "["),
    parse: parsePlayerList,
  },
  "a list reply of names with open brackets": {
    size: rconBytes,
    input: pumped("There are 1 of a max of 20 players online: ", "[[[[[[[[a]b,"),
    parse: parsePlayerList,
  },
  "a list reply of counts that never end": {
    size: rconBytes,
    input: pumped("", "There are 1/2"),
    parse: parsePlayerList,
  },
  "a list reply of one long number": {
    size: rconBytes,
    input: pumped("There are ", "1"),
    parse: parsePlayerList,
  },
  "a list reply of spaces": {
    size: rconBytes,
    input: pumped("There are 1 of a max of 20 players online: a", " ", "b"),
    parse: parsePlayerList,
  },
  "a LuckPerms line of spaces": { size: rconBytes, input: pumped("> a", " ", "x"), parse: parseInfoPage },
  "a LuckPerms line of brackets": { size: rconBytes, input: pumped("> a", "()", "("), parse: parseInfoPage },
  "a LuckPerms node of brackets": {
    size: rconBytes,
    input: pumped("> ", "()", " x"),
    parse: parseInfoPage,
  },
  "a LuckPerms line of words in brackets": {
    size: rconBytes,
    input: pumped("> a ", "( ) ", "x"),
    parse: parseInfoPage,
  },
  "LuckPerms lines as long as they may be": {
    size: rconBytes,
    input: pumped("", `> a${" ()".repeat(600)} x\n`),
    parse: parseInfoPage,
  },
  "LuckPerms page counts": { size: rconBytes, input: pumped("", "(page 1 of "), parse: parseInfoPage },
  "LuckPerms colours": { size: rconBytes, input: pumped("", "§c§c§c"), parse: parseInfoPage },
  "an unknown command behind spaces": {
    size: rconBytes,
    input: pumped("", " ", "x"),
    parse: isUnknownCommand,
  },
  "a whitelist without its colon": {
    size: rconBytes,
    input: pumped("", " whitelisted player"),
    parse: whitelistedIn,
  },
  "a whitelist of line breaks": {
    size: rconBytes,
    input: pumped("whitelisted players:", "\n", "x"),
    parse: whitelistedIn,
  },
  "a ban list of one word": { size: rconBytes, input: pumped("", "x"), parse: bannedIn },
  "a ban list of bans": { size: rconBytes, input: pumped("", "x was banned by "), parse: bannedIn },
  "a ban list of old headings": { size: rconBytes, input: pumped("", " banned players"), parse: bannedIn },
};

describe("replies of a game server over RCON", () => {
  for (const [what, worst] of Object.entries(replies)) test(`${what}: linear`, () => assertLinear(worst));
});
