import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, clockOf, isPlayerId, pageSize, requestOf, viewOf } from "./view.ts";

const first = { search: "", server: "", sort: "last_seen", page: 1 } as const;

test("an address without anything is the first page of all, and says nothing", () => {
  assert.deepEqual(viewOf({}), first);
  assert.deepEqual(viewOf({ q: {}, sort: "age", page: -1 }), first);
  assert.deepEqual(addressOf(first), {});
  assert.deepEqual(requestOf(first), { sort: "last_seen", limit: pageSize, offset: 0 });
});

test("an address keeps what it says", () => {
  const view = { search: "42", server: "survival", sort: "played", page: 3 } as const;
  assert.deepEqual(viewOf({ q: 42, server: "survival", sort: "played", page: "3" }), view);
  assert.deepEqual(viewOf(addressOf(view)), view);
  assert.deepEqual(requestOf(view), {
    ...{ sort: "played", limit: pageSize, offset: 2 * pageSize, text: "42", server: "survival" },
  });
  assert.equal(requestOf({ ...view, search: " a name that is far too long " }).text, "a name that is f");
});

test("time played is hours and minutes", () => {
  assert.deepEqual([0, 59, 3_599, 90_061].map(clockOf), [
    [0, 0],
    [0, 0],
    [0, 59],
    [25, 1],
  ]);
});

test("only a UUID is asked for", () => {
  assert.equal(isPlayerId("069a79f4-44e9-4726-a5be-fca90e38aaf5"), true);
  assert.equal(isPlayerId("069A79F444E94726A5BEFCA90E38AAF5"), true);
  for (const id of ["", "steve", "069a79f4", "../me"]) assert.equal(isPlayerId(id), false, id);
});
