import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addressOf,
  type Build,
  buildsViewOf,
  comparableWith,
  isBuildId,
  nameInRegistry,
  requestOf,
} from "./builds-view.ts";

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

test("a scan is compared with ended builds, those of the same image and person first", () => {
  const made = (id: string, about: Partial<Build>) =>
    ({ id, image_ref: id, status: "succeeded", requested_by: id, ...about }) as Build;
  const build = made("a", { requested_by: "alice" });
  const others = [
    made("b", {}),
    made("c", { status: "building", requested_by: "alice" }),
    build,
    made("d", { requested_by: "alice" }),
    made("e", { status: "cancelled" }),
    made("f", { status: "failed", image_ref: "a" }),
  ];
  assert.deepEqual(
    comparableWith(build, others).map(({ id }) => id),
    ["d", "f", "b"],
  );
  assert.equal(nameInRegistry("registry:5000/user-uploads/sub-1:latest"), "user-uploads/sub-1:latest");
});
