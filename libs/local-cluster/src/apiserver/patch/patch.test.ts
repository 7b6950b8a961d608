import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadBuiltinModels } from "../schema/builtin.ts";
import { jsonPatch } from "./json-patch.ts";
import { mergePatch } from "./merge-patch.ts";
import { strategicMerge } from "./strategic-merge.ts";

describe("a merge patch", () => {
  const cases: [fact: string, target: unknown, patch: unknown, result: unknown][] = [
    ["sets a field", { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ["merges objects at every depth", { a: { b: 1, c: 1 } }, { a: { b: 2 } }, { a: { b: 2, c: 1 } }],
    ["removes a field by null", { a: 1, b: 2 }, { a: null }, { b: 2 }],
    ["replaces a list", { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ["replaces a scalar by an object", { a: 1 }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ["replaces the whole target by a scalar", { a: 1 }, 5, 5],
  ];
  for (const [fact, target, patch, result] of cases) {
    test(fact, () => assert.deepEqual(mergePatch(target, patch), result));
  }

  test("leaves the target unchanged", () => {
    const target = { a: { b: 1 } };
    mergePatch(target, { a: { b: 2 } });
    assert.deepEqual(target, { a: { b: 1 } });
  });
});

describe("a JSON patch", () => {
  const target = { list: ["a", "b"], map: { "x/y": 1, "m~n": 2 } };
  const cases: [fact: string, operation: object, path: (result: unknown) => unknown, found: unknown][] = [
    ["inserts into a list", { op: "add", path: "/list/1", value: "c" }, listOf, ["a", "c", "b"]],
    ["appends to a list", { op: "add", path: "/list/-", value: "c" }, listOf, ["a", "b", "c"]],
    ["removes from a list", { op: "remove", path: "/list/0" }, listOf, ["b"]],
    ["replaces an item", { op: "replace", path: "/list/0", value: "z" }, listOf, ["z", "b"]],
    ["moves an item", { op: "move", from: "/list/0", path: "/list/1" }, listOf, ["b", "a"]],
    ["copies an item", { op: "copy", from: "/list/0", path: "/list/-" }, listOf, ["a", "b", "a"]],
    ["unescapes ~1", { op: "replace", path: "/map/x~1y", value: 5 }, (one) => mapOf(one)["x/y"], 5],
    ["unescapes ~0", { op: "replace", path: "/map/m~0n", value: 5 }, (one) => mapOf(one)["m~n"], 5],
  ];
  for (const [fact, operation, read, found] of cases) {
    test(fact, () => assert.deepEqual(read(jsonPatch(target, [operation])), found));
  }

  const rejected: [fact: string, patch: unknown, code: number][] = [
    ["that is not a list", {}, 400],
    ["with an operation without a path", [{ op: "remove" }], 400],
    ["with an unknown operation", [{ op: "swap", path: "/list" }], 422],
    ["with a path without a slash", [{ op: "remove", path: "list" }], 422],
    ["that removes a missing field", [{ op: "remove", path: "/none" }], 422],
    ["that replaces a missing field", [{ op: "replace", path: "/none", value: 1 }], 422],
    ["whose test fails", [{ op: "test", path: "/list/0", value: "z" }], 422],
    ["beyond the end of a list", [{ op: "add", path: "/list/9", value: 1 }], 422],
    ["of too many operations", Array.from({ length: 10_001 }, () => ({ op: "test", path: "" })), 413],
  ];
  for (const [fact, patch, code] of rejected) {
    test(`${fact} is ${code}`, () => assert.throws(() => jsonPatch(target, patch), { code }));
  }

  test("leaves the target unchanged", () => {
    jsonPatch(target, [{ op: "remove", path: "/map" }]);
    assert.deepEqual(Object.keys(target), ["list", "map"]);
  });
});

function listOf(result: unknown): unknown {
  return (result as { list: unknown }).list;
}

function mapOf(result: unknown): Record<string, unknown> {
  return (result as { map: Record<string, unknown> }).map;
}

describe("a strategic merge patch", () => {
  const models = loadBuiltinModels();
  const pod = (spec: object) => ({ target: { spec: base }, patch: { spec } });
  const base = {
    containers: [
      { name: "a", image: "a:1", args: ["x"] },
      { name: "b", image: "b:1" },
    ],
    nodeSelector: { disk: "ssd" },
  };
  const specOf = (spec: object) => strategicMerge(models, "V1Pod", pod(spec))["spec"] as typeof base;

  test("merges items of a keyed list and appends new ones", () => {
    const { containers } = specOf({ containers: [{ name: "b", image: "b:2" }, { name: "c" }] });
    assert.deepEqual(
      containers.map(({ name, image }) => [name, image]),
      [
        ["a", "a:1"],
        ["b", "b:2"],
        ["c", undefined],
      ],
    );
  });

  test("replaces a list without a merge key", () => {
    assert.deepEqual(specOf({ containers: [{ name: "a", args: ["y"] }] }).containers[0]?.args, ["y"]);
  });

  test("deletes an item by directive", () => {
    const { containers } = specOf({ containers: [{ name: "a", $patch: "delete" }] });
    assert.deepEqual(
      containers.map(({ name }) => name),
      ["b"],
    );
  });

  test("replaces an object by directive", () => {
    assert.deepEqual(specOf({ nodeSelector: { $patch: "replace", zone: "1" } }).nodeSelector, { zone: "1" });
  });

  test("orders items as $setElementOrder says", () => {
    const { containers } = specOf({ "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] });
    assert.deepEqual(
      containers.map(({ name }) => name),
      ["b", "a"],
    );
  });

  test("an item without its merge key is 400", () => {
    assert.throws(() => specOf({ containers: [{ image: "x" }] }), { code: 400 });
  });
});
