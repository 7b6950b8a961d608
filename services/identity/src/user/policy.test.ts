import assert from "node:assert/strict";
import { test } from "node:test";
import { patternOf, refusalOf, type Target } from "./policy.ts";

const rules: [what: string, target: Target, wanted: string | undefined][] = [
  ["a user may be changed", { id: "b", role: "user" }, undefined],
  ["an admin may be changed", { id: "b", role: "admin" }, undefined],
  ["nobody changes their own standing", { id: "a", role: "owner" }, "self_protected"],
  ["another owner is changed only from the host console", { id: "c", role: "owner" }, "owner_protected"],
];
for (const [what, target, wanted] of rules) {
  test(what, () => assert.equal(refusalOf(target, "a"), wanted));
}

test("wildcards in a search are matched literally", () => {
  assert.equal(patternOf("A_b%\\"), "%a\\_b\\%\\\\%");
});
