import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { everything, type FleetView } from "./fleet-view.ts";
import {
  type Finds,
  findsOfFleet,
  findsOfList,
  fleetViewOfFinds,
  isSameFinds,
  isSomething,
  listViewOfFinds,
} from "./saved-filter.ts";

const all: Finds = { search: "", sort: "name", node: "", tag: "" };

describe("what the list of staff shows is saved and found again", () => {
  const rows: FleetView[] = [
    everything,
    { ...everything, search: "night" },
    { search: "night", filter: "attention", sort: "owner", node: "worker-1", tag: "event" },
  ];
  for (const view of rows)
    test(JSON.stringify(view), () => assert.deepEqual(fleetViewOfFinds(findsOfFleet(view)), view));
});

describe("the own list", () => {
  const view = { search: "night", filter: "awake", sort: "status", tag: "event" } as const;
  test("is saved and found again", () => assert.deepEqual(listViewOfFinds(findsOfList(view)), view));

  const rows: [fact: string, finds: Finds, isShown: boolean][] = [
    ["shows a search", { ...all, search: "night" }, true],
    ["shows those that failed", { ...all, show: "failed" }, true],
    ["does not know those that need somebody", { ...all, show: "attention" }, false],
    ["does not know those without an owner", { ...all, show: "unowned" }, false],
    ["does not know nodes", { ...all, node: "worker-1" }, false],
    ["is not ordered by owners", { ...all, sort: "owner" }, false],
    ["is not ordered by nodes", { ...all, sort: "node" }, false],
  ];
  for (const [fact, finds, isShown] of rows)
    test(fact, () => assert.equal(listViewOfFinds(finds) !== undefined, isShown));
});

test("a filter is the one that is open where all of it is the same", () => {
  const one: Finds = { ...all, search: "night", show: "awake" };
  assert.ok(isSameFinds(one, { ...one }));
  for (const change of [{ search: "" }, { tag: "a" }, { node: "n" }, { sort: "players" as const }])
    assert.ok(!isSameFinds(one, { ...one, ...change }));
  assert.ok(!isSameFinds(one, { ...all, search: "night" }));
});

test("nothing is saved of a list that shows everything by name", () => {
  assert.ok(!isSomething(all));
  for (const change of [{ search: "a" }, { tag: "a" }, { node: "n" }, { sort: "players" as const }])
    assert.ok(isSomething({ ...all, ...change }));
  assert.ok(isSomething({ ...all, show: "failed" }));
});
