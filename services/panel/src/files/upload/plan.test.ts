import assert from "node:assert/strict";
import { test } from "node:test";
import { decideStep, type UploadItem, withSession } from "./item.ts";
import { type Chosen, matchFiles, planContext, planItems, reviveItems } from "./plan.ts";

const file = (path: string, size = 10, lastModified = 1): Chosen => ({
  path,
  file: { name: path.split("/").at(-1) ?? "", size, lastModified },
});
const plan = (chosen: Chosen[], folder = "", known: string[] = []): UploadItem[] => {
  let last = 0;
  const target = { server: "survival", folder, existing: new Set(known), newId: () => String(++last) };
  return planItems(chosen, target).map(({ item }) => item);
};

test("folders come before what is in them, each once, empty ones as well", () => {
  const items = plan(
    [file("pack/b/2.txt"), file("pack/a.txt"), { path: "pack/empty" }, file("top.txt")],
    "mods",
  );
  assert.deepEqual(
    items.map(({ kind, path }) => [kind, path]),
    [
      ["folder", "mods/pack"],
      ["folder", "mods/pack/b"],
      ["folder", "mods/pack/empty"],
      ["file", "mods/pack/b/2.txt"],
      ["file", "mods/pack/a.txt"],
      ["file", "mods/top.txt"],
    ],
  );
});

test("what is known to be there is not made, and asks before it is replaced", () => {
  const items = plan([file("pack/a.txt"), file("b.txt"), file("c.txt")], "mods", ["mods/pack", "mods/b.txt"]);
  assert.deepEqual(
    items.map(({ path, state }) => [path, state.is]),
    [
      ["mods/pack/a.txt", "open"],
      ["mods/b.txt", "exists"],
      ["mods/c.txt", "open"],
    ],
  );
});

test("after a reload the same file goes on where it was, without a byte that was kept", () => {
  const [item] = plan([file("a.jar", 100 * 1_048_576)]);
  assert.ok(item);
  const begun = withSession(item, { id: "s", received: 5, part_max_bytes: 32 });
  const kept = JSON.stringify([begun, { ...begun, id: "9", state: { is: "done" } }]);
  const [revived, ...others] = reviveItems(kept);
  assert.ok(revived);
  assert.equal(others.length, 0);
  assert.equal(decideStep(revived, { hasFile: false, now: 0 }).do, "read-session");
  const synced = withSession(revived, { id: "s", received: 7, part_max_bytes: 32 });
  assert.equal(decideStep(synced, { hasFile: false, now: 0 }).do, "ask-for-file");
  assert.deepEqual(decideStep(synced, { hasFile: true, now: 0 }), {
    do: "send-part",
    session: "s",
    offset: 7,
    length: 32,
  });
});

test("only the same file is taken for one that waits", () => {
  const waiting = plan([file("pack/a.txt"), file("b.txt")], "mods").filter(({ kind }) => kind === "file");
  const [a] = waiting;
  const cases: [string, Chosen, string | undefined][] = [
    ["by its path in the folder that was dropped", file("pack/a.txt"), a?.id],
    ["by its name alone", file("a.txt"), a?.id],
    ["not with another size", file("a.txt", 11), undefined],
    ["not when it was changed since", file("a.txt", 10, 2), undefined],
    ["not with another name", file("c.txt"), undefined],
    ["not when its name is only an ending", file(".txt"), undefined],
  ];
  for (const [name, chosen, id] of cases) assert.equal(matchFiles(waiting, [chosen])[0]?.id, id, name);
});

test("a file that could be two is taken for neither", () => {
  const waiting = plan([file("a/x.yml"), file("b/x.yml")]).filter(({ kind }) => kind === "file");
  assert.deepEqual(matchFiles(waiting, [file("x.yml")]), []);
  assert.deepEqual(
    matchFiles(waiting, [file("b/x.yml"), file("a/x.yml")]).map(({ id }) => id),
    [waiting[1]?.id, waiting[0]?.id],
  );
});

test("what lies in the store and is not a queue is left alone", () => {
  for (const text of [null, "", "{", "{}", "[1]", '[{"id":1}]', '[{"id":"a","state":null}]'])
    assert.deepEqual(reviveItems(text), [], String(text));
});

test("a context goes in parts from its first byte, however small, and survives a reload", () => {
  const item = planContext("sub-1", { name: "pack.tar.gz", size: 7, lastModified: 3 }, () => "1");
  assert.deepEqual(decideStep(item, { hasFile: true, now: 0 }), {
    do: "send-part",
    session: "sub-1",
    offset: 0,
    length: 7,
  });
  const [revived] = reviveItems(JSON.stringify([item]));
  assert.ok(revived);
  assert.equal(revived.submission, "sub-1");
  assert.deepEqual(decideStep(revived, { hasFile: false, now: 0 }), { do: "read-session", session: "sub-1" });
  const read = withSession(revived, { id: "sub-1", received: 0, part_max_bytes: 32 });
  assert.deepEqual(decideStep(read, { hasFile: false, now: 0 }), { do: "ask-for-file" });
  const whole = withSession(read, { id: "sub-1", received: 7, part_max_bytes: 32 });
  assert.deepEqual(decideStep(whole, { hasFile: false, now: 0 }), { do: "commit", session: "sub-1" });
});
