import assert from "node:assert/strict";
import { test } from "node:test";
import { compareContexts, selectEntries } from "./compare.ts";
import type { IndexEntry } from "./entry-index.ts";

const file = (path: string, sha256 = "1"): IndexEntry => ({ path, kind: "file", size: 1, sha256 });
const folder = (path: string): IndexEntry => ({ path, kind: "folder", size: 0 });
const link = (path: string, target: string): IndexEntry => ({ path, kind: "link", size: 0, target });

const changes = (now: IndexEntry[], earlier: IndexEntry[]) =>
  compareContexts(now, earlier).entries.map(({ path, kind, change }) => `${change} ${kind} ${path}`);

test("files, links and folders are compared by path, kind, content and target", () => {
  const now = [file("a"), file("b", "2"), link("l", "a"), link("m", "a"), file("new/x"), folder("empty")];
  const earlier = [file("a"), file("b"), link("l", "b"), link("m", "a"), file("old/y"), folder("empty")];
  assert.deepEqual(changes(now, earlier), [
    "same file a",
    "changed file b",
    "same folder empty",
    "changed link l",
    "same link m",
    "added folder new",
    "added file new/x",
    "removed folder old",
    "removed file old/y",
  ]);
  assert.deepEqual(compareContexts(now, earlier).counts, { same: 2, added: 1, changed: 2, removed: 1 });
});

test("a folder is changed when anything below it is, and only then", () => {
  const now = [file("a/b/c", "2"), file("a/d"), file("e/f")];
  const earlier = [file("a/b/c"), file("a/d"), file("e/f")];
  assert.deepEqual(changes(now, earlier), [
    "changed folder a",
    "changed folder a/b",
    "changed file a/b/c",
    "same file a/d",
    "same folder e",
    "same file e/f",
  ]);
});

test("a file that was a folder is added, and what was below it is removed", () => {
  assert.deepEqual(changes([file("a")], [file("a/b")]), ["added file a", "removed file a/b"]);
});

test("without an earlier context everything is added", () => {
  assert.deepEqual(changes([file("a/b")], []), ["added folder a", "added file a/b"]);
});

test("entries are selected by folder, change and part of the path", () => {
  const { entries } = compareContexts(
    [file("Dockerfile"), file("mods/A.jar"), file("mods/x/b")],
    [file("old")],
  );
  const select = (wanted: Parameters<typeof selectEntries>[1]) =>
    selectEntries(entries, wanted).map(({ path }) => path);
  assert.deepEqual(select({ folder: "" }), ["Dockerfile", "mods", "old"]);
  assert.deepEqual(select({ folder: "mods/" }), ["mods/A.jar", "mods/x"]);
  assert.deepEqual(select({}), ["Dockerfile", "mods/A.jar", "mods/x/b", "old"]);
  assert.deepEqual(select({ change: "removed" }), ["old"]);
  assert.deepEqual(select({ query: "a.JAR" }), ["mods/A.jar"]);
});

test("a deep chain of folders with many files is compared in a moment", { timeout: 20_000 }, () => {
  const deep = Array.from({ length: 1_000 }, () => "d").join("/");
  const now = Array.from({ length: 30_000 }, (_, n) => file(`${deep}/${n}`));
  assert.equal(compareContexts(now, []).entries.length, 31_000);
});
