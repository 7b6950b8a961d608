import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { crumbsOf, isFileName, isWorldPath, joinPath, nameOf, parentOf, placeOf } from "./path.ts";

describe("the address shows", () => {
  const cases = [
    ["the root without a path", {}, { folder: "", file: undefined }],
    ["a folder", { path: "plugins/Essentials" }, { folder: "plugins/Essentials", file: undefined }],
    ["a folder whose name is a number", { path: 2024 }, { folder: "2024", file: undefined }],
    ["a folder without needless slashes", { path: "/a//b/" }, { folder: "a/b", file: undefined }],
    ["a file in its folder", { open: "a/b.yml", path: "x" }, { folder: "a", file: "a/b.yml" }],
    ["the root where the path is not text", { path: { a: 1 } }, { folder: "", file: undefined }],
  ] as const;
  for (const [name, search, expected] of cases) test(name, () => assert.deepEqual(placeOf(search), expected));
});

test("paths are put together and taken apart", () => {
  assert.equal(joinPath("", "a"), "a");
  assert.equal(joinPath("a", "b"), "a/b");
  assert.deepEqual([parentOf("a/b/c"), parentOf("a")], ["a/b", ""]);
  assert.deepEqual([nameOf("a/b/c"), nameOf("a")], ["c", "a"]);
  assert.deepEqual(crumbsOf(""), []);
  assert.deepEqual(crumbsOf("a/b"), [
    { name: "a", path: "a" },
    { name: "b", path: "a/b" },
  ]);
});

test("names that leave the folder or belong to the platform are refused", () => {
  for (const name of ["", ".", "..", "a/b", "a\\b", "a\0b", ".svc-x", "x".repeat(256), "世".repeat(86)])
    assert.equal(isFileName(name), false, JSON.stringify(name));
  for (const name of ["a", "...", ".env", "世界", "a b", "世".repeat(85)])
    assert.equal(isFileName(name), true, name);
  assert.equal(isWorldPath("a/b.yml"), true);
  for (const path of ["", "a//b", "/a", "a/../b"]) assert.equal(isWorldPath(path), false, path);
});
