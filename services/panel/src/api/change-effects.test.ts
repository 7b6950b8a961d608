import assert from "node:assert/strict";
import { test } from "node:test";
import { type ChangeNotice, effectOf, isCovered, listPauseMs } from "./change-effects.ts";

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
