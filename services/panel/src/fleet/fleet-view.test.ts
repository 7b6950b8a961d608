import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServerRow } from "../server/row.ts";
import {
  addressOf,
  everything,
  fleetViewOf,
  narrowRows,
  pagesFor,
  requestOf,
  rowsInPlace,
} from "./fleet-view.ts";
import { all, countOf, isSelected, namesBetween, nothing, withNames } from "./selection.ts";

test("the address holds what differs from everything, and is read back", () => {
  assert.deepEqual(addressOf(everything), {});
  const view = {
    search: "sky 7",
    filter: "attention",
    sort: "players",
    node: "node-2",
    tag: "event night",
  } as const;
  assert.deepEqual(fleetViewOf(addressOf(view)), view);
});

test("what the address gets wrong counts as not there", () => {
  assert.deepEqual(fleetViewOf({ q: 12, show: "all of them", sort: ["name"], node: {}, tag: [] }), {
    ...everything,
    search: "12",
  });
});

test("a request asks for its page, trimmed and bounded, with most players first", () => {
  const view = { ...everything, search: ` ${"x".repeat(120)} `, sort: "players" } as const;
  const request = requestOf(view, 3);
  assert.deepEqual([request.offset, request.limit, request.order], [300, 100, "desc"]);
  assert.equal(request.query?.length, 100);
  assert.equal(requestOf(everything, 0).order, "asc");
  assert.equal(requestOf({ ...everything, tag: "event" }, 0).tag, "event");
});

for (const [sentence, first, last, pages] of [
  ["the rows in sight are of one page", 0, 20, [0]],
  ["they are of two pages", 90, 110, [0, 1]],
  ["the first page is read for the total", 540, 560, [0, 5]],
  ["a tall window reads no more than four pages", 500, 5_000, [0, 5, 6, 7, 8]],
] as const) {
  test(sentence, () => assert.deepEqual(pagesFor(first, last), pages));
}

test("rows stand in their places, and none beyond the total", () => {
  const rows = rowsInPlace(102, [
    { page: 0, rows: undefined },
    { page: 1, rows: ["a", "b", "gone"] },
  ]);
  assert.equal(rows.length, 102);
  assert.deepEqual([rows[0], rows[100], rows[101]], [undefined, "a", "b"]);
});

const named = (name: string) => ({ name, subdomain: name, displayName: name, owner: "lena" }) as ServerRow;
const [sky, moon] = [named("sky-1"), named("moon-1")];
for (const [sentence, rows, answered, typed, shown] of [
  ["a search that goes on is narrowed at once", [sky, moon], "", "SKY", [sky]],
  ["each of its words counts", [sky, moon], "1 ", "1 lena moon", [moon]],
  ["one that was answered shows its answer", [sky, moon], "x", "x", [sky, moon]],
  ["another search waits for its answer", [sky], "sky", "moon", [sky]],
  ["a shorter one waits", [sky], "sky", "sk", [sky]],
  ["so does a list whose rows are not all there", [sky, undefined], "", "sky", [sky, undefined]],
] as const) {
  test(sentence, () => assert.deepEqual(narrowRows(rows, { typed, answered }), shown));
}

test("some are chosen by name", () => {
  const some = withNames(withNames(nothing, ["a", "b"], true), ["b"], false);
  assert.deepEqual([isSelected(some, "a"), isSelected(some, "b"), countOf(some, 10)], [true, false, 1]);
});

test("all that match are chosen but those left out", () => {
  const most = withNames(all, ["a"], false);
  assert.deepEqual([isSelected(most, "a"), isSelected(most, "z"), countOf(most, 10)], [false, true, 9]);
  assert.equal(countOf(withNames(most, ["a"], true), 10), 10);
});

test("a range goes in either direction and leaves out system servers and rows that were not read", () => {
  const rows = [
    { name: "a", system: false },
    undefined,
    { name: "lobby", system: true },
    { name: "d", system: false },
  ];
  assert.deepEqual(namesBetween(rows, 3, 0), ["a", "d"]);
  assert.deepEqual(namesBetween(rows, 1, 2), []);
});
