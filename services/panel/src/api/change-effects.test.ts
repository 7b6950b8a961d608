import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ChangeNotice,
  effectOf,
  effectOfAll,
  isCovered,
  listPauseMs,
  type Reading,
  untilReadMs,
} from "./change-effects.ts";

const cases: Readonly<
  Record<string, [notice: ChangeNotice, key: readonly unknown[], effect: ReturnType<typeof effectOf>]>
> = {
  "the status of the server": [
    { type: "server", server: "anvil" },
    ["servers.viewStatus", { name: "anvil" }],
    "own",
  ],
  "the status of another one": [
    { type: "server", server: "anvil" },
    ["servers.viewStatus", { name: "beacon" }],
    "none",
  ],
  "a list with the server": [{ type: "server", server: "anvil" }, ["ownership.listMine", {}], "list"],
  "its Jobs": [{ type: "job", server: "anvil" }, ["backups.listJobs", { name: "anvil" }], "own"],
  "its backups": [
    { type: "backup", server: "anvil" },
    ["backups.list", { server: "anvil", include_expired: true }],
    "own",
  ],
  "its Jobs, by a change of the server": [
    { type: "server", server: "anvil" },
    ["backups.listJobs", { name: "anvil" }],
    "none",
  ],
  "something that events do not tell of": [{ type: "server", server: "anvil" }, ["audit.search", {}], "none"],
  "a type of a later release": [
    { type: "weather" as "server", server: "anvil" },
    ["servers.viewStatus", { name: "anvil" }],
    "none",
  ],
};
for (const [what, [notice, key, effect]] of Object.entries(cases)) {
  test(`a change concerns ${what}: ${effect}`, () => {
    assert.equal(effectOf(notice, key), effect);
  });
}

test("what events tell of is not polled", () => {
  assert.equal(isCovered("servers.viewStatus"), true);
  assert.equal(isCovered("consoles.listPlayers"), false);
});

test("a list is read again a second after a change, a long one later", () => {
  assert.deepEqual([0, 50, 1_000, 10_000].map(listPauseMs), [1_000, 1_000, 3_000, 15_000]);
});

test("anything may have changed: lists, data of one server, and nothing that is polled", () => {
  const keys = [
    ["servers.fleet", { limit: 20 }],
    ["servers.viewStatus", { name: "anvil" }],
    ["audit.search", {}],
  ];
  assert.deepEqual(keys.map(effectOfAll), ["list", "own", "none"]);
});

const now = 100_000;
const readings: Readonly<Record<string, [reading: Reading, ms: number]>> = {
  "data of the server at once": [{ effect: "own", rows: 0, lastAt: now, isUnderWay: false }, 0],
  "data of the server that is being read after that": [
    { effect: "own", rows: 0, lastAt: now, isUnderWay: true },
    250,
  ],
  "a list that was not read lately at once": [
    { effect: "list", rows: 50, lastAt: now - 1_000, isUnderWay: false },
    0,
  ],
  "a list that was just read after a second": [
    { effect: "list", rows: 50, lastAt: now - 200, isUnderWay: false },
    800,
  ],
  "a long list that was just read later": [
    { effect: "list", rows: 2_000, lastAt: now, isUnderWay: false },
    6_000,
  ],
  "a list that has been read for long after that": [
    { effect: "list", rows: 50, lastAt: now - 5_000, isUnderWay: true },
    250,
  ],
};
for (const [what, [reading, ms]] of Object.entries(readings)) {
  test(`a change reads ${what}`, () => assert.equal(untilReadMs(reading, now), ms));
}
