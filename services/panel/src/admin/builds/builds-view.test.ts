import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, buildsViewOf, isBuildId, repositoryOf, requestOf } from "./builds-view.ts";

test("a search comes before a state, as the service takes one word", () => {
  const both = buildsViewOf({ q: "sky", status: "failed", page: "2" });
  assert.deepEqual(both, { search: "sky", status: "all", page: 2 });
  assert.deepEqual(requestOf(both), { limit: 50, offset: 50, query: "sky" });
  const state = buildsViewOf({ status: "failed" });
  assert.deepEqual(requestOf(state), { limit: 50, offset: 0, query: "failed" });
  assert.deepEqual(addressOf(state), { status: "failed" });
});

test("nonsense in the address counts as nothing", () => {
  const view = buildsViewOf({ q: ["a"], status: "burning", page: "-3" });
  assert.deepEqual(view, { search: "", status: "all", page: 1 });
  assert.deepEqual(addressOf(view), {});
});

test("only 32 hexadecimal digits are the id of a build", () => {
  assert.ok(isBuildId("0123456789abcdef0123456789abcdef"));
  for (const id of ["", "..", "0123456789ABCDEF0123456789ABCDEF", "0".repeat(33)]) assert.ok(!isBuildId(id));
});

test("builds of one image share its name without tag and digest", () => {
  const cases = [
    ["registry:5000/user-uploads/sub-1:latest", "registry:5000/user-uploads/sub-1"],
    ["registry:5000/a/b", "registry:5000/a/b"],
    ["a/b:1@sha256:00", "a/b"],
  ] as const;
  for (const [ref, expected] of cases) assert.equal(repositoryOf(ref), expected);
});
