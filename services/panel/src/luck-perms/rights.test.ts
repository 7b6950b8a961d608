import assert from "node:assert/strict";
import { test } from "node:test";
import { badFieldsOf, type Change, isApplied, type Rights, removalOf, searchPermissions } from "./rights.ts";

const rights: Rights = {
  groups: ["default", "builder"],
  permissions: [
    { node: "essentials.fly", value: true },
    { node: "essentials.god", value: false },
    { node: "essentials.fly", value: false, world: "nether" },
  ],
};
const group = (action: "add" | "remove", name: string): Change => ({ kind: "group", action, group: name });
const set = (node: string, value?: boolean, world?: string): Change => ({
  ...{ kind: "permission", action: "set", node },
  ...(value !== undefined && { value }),
  ...(world !== undefined && { world }),
});
const unset = (node: string, world?: string): Change => ({
  ...{ kind: "permission", action: "unset", node },
  ...(world !== undefined && { world }),
});

test("a change counts as done when the rights say so", () => {
  const cases: [string, Change, boolean][] = [
    ["a group that was added", group("add", "builder"), true],
    ["a group in another case", group("add", "Builder"), true],
    ["a group that does not exist", group("add", "king"), false],
    ["a group that was removed", group("remove", "king"), true],
    ["a group that could not be removed", group("remove", "default"), false],
    ["a permission that was granted", set("essentials.fly"), true],
    ["a permission in another case", set("Essentials.Fly", true), true],
    ["a permission that was denied", set("essentials.god", false), true],
    ["one that is still denied", set("essentials.god", true), false],
    ["one of another world", set("essentials.god", false, "nether"), false],
    ["one of this world", set("essentials.fly", false, "nether"), true],
    ["a membership that was set as a permission", set("group.builder", true), true],
    ["a permission that was removed", unset("essentials.kick"), true],
    ["one that is still there", unset("essentials.fly"), false],
    ["one that is there in another world only", unset("essentials.god", "nether"), true],
  ];
  for (const [name, change, expected] of cases) assert.equal(isApplied(rights, change), expected, name);
});

test("what the operations refuse is found before", () => {
  const cases: [Change, string[]][] = [
    [group("add", "a b"), ["group"]],
    [group("add", "builder-2"), []],
    [set("essentials.*"), []],
    [set("-essentials"), ["node"]],
    [set("a b", true, "the end"), ["node", "world"]],
    [set("a", true, "minecraft:the_nether"), []],
    [set(""), ["node"]],
  ];
  for (const [change, expected] of cases) assert.deepEqual(badFieldsOf(change), expected);
});

test("a removal is taken back with its value and its world", () => {
  const [, , inNether] = rights.permissions;
  assert.ok(inNether);
  const { remove, restore } = removalOf(inNether);
  assert.deepEqual(remove, unset("essentials.fly", "nether"));
  assert.deepEqual(restore, set("essentials.fly", false, "nether"));
});

test("permissions are found by name and by world", () => {
  const found = (search: string) => searchPermissions(rights.permissions, search).length;
  assert.deepEqual([found(""), found("FLY"), found("nether"), found("nothing")], [3, 2, 1, 0]);
});
