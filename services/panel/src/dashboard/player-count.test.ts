import assert from "node:assert/strict";
import { test } from "node:test";
import { countPlayers } from "./player-count.ts";

const servers = (...players: number[]) => players.map((playersOnline) => ({ playersOnline }));

const cases: Readonly<Record<string, [Parameters<typeof countPlayers>, ReturnType<typeof countPlayers>]>> = {
  "no server is awake": [[[], 0], { players: 0, busy: 0, isMore: false }],
  "all were read": [[servers(5, 2), 2], { players: 7, busy: 2, isMore: false }],
  "those that were not read are empty": [[servers(5, 0), 9], { players: 5, busy: 1, isMore: false }],
  "those that were not read may have some": [[servers(5, 2), 9], { players: 7, busy: 2, isMore: true }],
};
for (const [what, [given, expected]] of Object.entries(cases)) {
  test(what, () => assert.deepEqual(countPlayers(...given), expected));
}
