import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseCopies } from "./choose-copies.ts";

const keys = ["a", "b", "c", "d", "e"];

test("without a sample every copy is opened", () => {
  const { some, only } = chooseCopies({ sample: undefined, damaged: ["b"] });
  assert.deepEqual([some(keys), only(keys, () => false)], [keys, keys]);
});

test("a sample has so many copies of a kind, none of them twice", () => {
  const { some, only } = chooseCopies({ sample: 3, damaged: [] });
  assert.equal(new Set(some(keys)).size, 3);
  assert.equal(some(keys.slice(0, 2)).length, 2);
  assert.deepEqual(
    only(keys, (key) => key === "e"),
    ["e"],
  );
});

test("beside the sample a copy is opened that the last verification found damaged, until it is gone", () => {
  const { some, only } = chooseCopies({ sample: 1, damaged: ["b", "gone"] });
  const chosen = some(keys, (key) => key === "d");
  assert.deepEqual([chosen.length, chosen.slice(0, 2)], [3, ["b", "d"]]);
  assert.deepEqual(
    only(keys, (key) => key === "e"),
    ["b", "e"],
  );
});
