import assert from "node:assert/strict";
import { test } from "node:test";
import { patternOf, refusalOf, type Target, uuidIn } from "./policy.ts";

const rules: [what: string, target: Target, wanted: string | undefined][] = [
  ["a user may be changed", { id: "b", role: "user" }, undefined],
  ["an admin may be changed", { id: "b", role: "admin" }, undefined],
  ["users cannot change their own role or status", { id: "a", role: "owner" }, "self_protected"],
  ["another owner can be changed only on the host", { id: "c", role: "owner" }, "owner_protected"],
];
for (const [what, target, wanted] of rules) {
  test(what, () => assert.equal(refusalOf(target, "a"), wanted));
}

test("wildcards in a search are matched literally", () => {
  assert.equal(patternOf("A_b%\\"), "%a\\_b\\%\\\\%");
});

test("a search recognizes a UUID with or without dashes, and nothing else", () => {
  const uuid = "b4f7e65c-ed9c-3510-88fa-a3f669cd7244";
  assert.equal(uuidIn(` ${uuid.toUpperCase()} `), uuid);
  assert.equal(uuidIn(uuid.replaceAll("-", "")), uuid);
  for (const other of ["", "alex", uuid.slice(1), `${uuid}0`, `${uuid}@example.org`]) {
    assert.equal(uuidIn(other), undefined, other);
  }
});
