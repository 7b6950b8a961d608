import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addressOf, decideActs, isUserId, requestOf, stateOf, usersViewOf } from "./users-view.ts";

const first = { search: "", role: "all", state: "all", sort: "created_at", page: 1 } as const;

describe("the list of users in the address", () => {
  const cases = [
    ["an empty address is the first page of all", {}, first, {}],
    ["a search that the router read as a number", { q: 42 }, { ...first, search: "42" }, { q: "42" }],
    [
      "filters, order and page",
      { q: "ada", role: "admin", state: "disabled", sort: "username", page: 3 },
      { search: "ada", role: "admin", state: "disabled", sort: "username", page: 3 },
      { q: "ada", role: "admin", state: "disabled", sort: "username", page: 3 },
    ],
    ["unknown filters count as nothing", { role: "owner", state: 1, page: "x", q: ["a"] }, first, {}],
    ["a page below the first is the first", { page: -2 }, first, {}],
  ] as const;
  for (const [name, query, view, address] of cases)
    test(name, () => {
      assert.deepEqual(usersViewOf(query), view);
      assert.deepEqual(addressOf(usersViewOf(query)), address);
    });
});

test("a page becomes an offset, and spaces alone are not a search", () => {
  assert.deepEqual(requestOf({ ...first, search: "  ", page: 3 }), { limit: 50, offset: 100 });
  assert.deepEqual(
    requestOf({ ...first, search: " ada ", role: "user", state: "active", sort: "username" }),
    {
      sort: "username",
      limit: 50,
      offset: 0,
      query: "ada",
      role: "user",
      disabled: "false",
    },
  );
});

test("what cannot be an id is not asked for", () => {
  assert.equal(isUserId("0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d"), true);
  for (const id of ["", "..", "a/b", "a".repeat(65), "管理员"]) assert.equal(isUserId(id), false, id);
});

describe("what may be done to a user", () => {
  const all = { edit: true, role: true, disable: true, remove: true };
  const editOnly = { edit: true, role: false, disable: false, remove: false };
  const none = { edit: false, role: false, disable: false, remove: false };
  const cases = [
    ["anything to a player", { id: "a", role: "user" }, all],
    ["anything to an operator", { id: "a", role: "admin" }, all],
    ["the owner keeps role and access", { id: "a", role: "owner" }, editOnly],
    ["nobody disables themselves", { id: "me", role: "admin" }, editOnly],
    ["a deleted user stays as they are", { id: "a", role: "user", deleted_at: "2026-01-01T00:00:00Z" }, none],
  ] as const;
  for (const [name, user, acts] of cases) test(name, () => assert.deepEqual(decideActs(user, "me"), acts));
});

test("deleted says more than disabled", () => {
  assert.equal(stateOf({ disabled: false }), "active");
  assert.equal(stateOf({ disabled: true }), "disabled");
  assert.equal(stateOf({ disabled: true, deleted_at: "2026-01-01T00:00:00Z" }), "deleted");
});
