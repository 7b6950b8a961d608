import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContextEntry, isDockerfile, leadsOut, nameOf, sortEntries } from "./context-tree.ts";

const entry = (path: string, kind: ContextEntry["kind"] = "file"): ContextEntry => ({
  path,
  kind,
  size: 1,
  change: "same",
});

test("folders stand before files, each by name and once", () => {
  const entries = [
    entry("b.txt"),
    entry("z", "folder"),
    entry("a", "link"),
    entry("b.txt"),
    entry("c", "folder"),
  ];
  assert.deepEqual(
    sortEntries(entries).map(({ path }) => path),
    ["c", "z", "a", "b.txt"],
  );
});

test("an entry is called by the last part of its path", () => {
  for (const [path, name] of [
    ["a/b/c.txt", "c.txt"],
    ["a/b/", "b"],
    ["top", "top"],
  ] as const)
    assert.equal(nameOf(path), name);
});

test("a link leads out by an absolute path or by its parent", () => {
  for (const target of ["/etc/passwd", "../x", "a/../../x"]) assert.ok(leadsOut(target), target);
  for (const target of ["x", "a/b", "..a"]) assert.ok(!leadsOut(target), target);
});

test("recipes are found by their name", () => {
  for (const path of ["Dockerfile", "sub/dockerfile", "Containerfile.dev"]) assert.ok(isDockerfile(path));
  assert.ok(!isDockerfile("Dockerfile/notes"));
});
