import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameJson } from "./same-json.ts";

const table: [fact: string, one: unknown, other: unknown, isSame: boolean][] = [
  ["nothing", {}, {}, true],
  ["members in another order", { a: 1, b: "x" }, { b: "x", a: 1 }, true],
  ["an undefined member and none", { a: 1, b: undefined }, { a: 1 }, true],
  ["another value", { a: 1 }, { a: 2 }, false],
  ["a member more", { a: 1 }, { a: 1, b: false }, false],
  ["a member that is null, and none", { a: null }, {}, false],
  ["a number and its text", { a: 1 }, { a: "1" }, false],
  ["a member deep inside", { a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 2 }] } }, false],
  ["the same deep inside", { a: { b: [{ c: 1, d: undefined }] } }, { a: { b: [{ c: 1 }] } }, true],
  ["a list in another order", { a: [1, 2] }, { a: [2, 1] }, false],
  ["a longer list", { a: [1] }, { a: [1, 2] }, false],
  ["a list and an object", { a: [] }, { a: {} }, false],
  ["an object and nothing", { a: {} }, { a: null }, false],
];

for (const [fact, one, other, isSame] of table)
  test(`${fact}: ${isSame ? "the same" : "not the same"}`, () => {
    assert.equal(isSameJson(one, other), isSame);
    assert.equal(isSameJson(other, one), isSame);
    const stored = (value: unknown) => JSON.parse(JSON.stringify(value));
    assert.equal(isSameJson(stored(one), stored(other)), isSame);
  });
