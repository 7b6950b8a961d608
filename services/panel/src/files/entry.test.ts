import assert from "node:assert/strict";
import { test } from "node:test";
import { compareEntries, type Entry, isArchive } from "./entry.ts";

const entry = (name: string, is_dir = false): Entry => ({
  name,
  is_dir,
  size: 0,
  mod_time: "2026-01-01T00:00:00Z",
});

test("folders come first, and numbers in names count", () => {
  const given = [
    entry("world10", true),
    entry("b.txt"),
    entry("a.txt"),
    entry("world2", true),
    entry("世界", true),
  ];
  const names = given.sort(compareEntries("en")).map(({ name }) => name);
  assert.deepEqual(names, ["world2", "world10", "世界", "a.txt", "b.txt"]);
});

test("only a file named so is an archive", () => {
  assert.equal(isArchive(entry("pack.ZIP")), true);
  assert.equal(isArchive(entry("pack.zip", true)), false);
  assert.equal(isArchive(entry("pack.tar.gz")), false);
});
