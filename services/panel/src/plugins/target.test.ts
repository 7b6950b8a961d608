import assert from "node:assert/strict";
import { test } from "node:test";
import { isPossible, targetOf } from "./target.ts";

test("a target needs a loader and a version", () => {
  assert.deepEqual(targetOf("paper", "1.21.4"), { loader: "paper", game_version: "1.21.4" });
  for (const [loader, version] of [
    ["", "1.21.4"],
    ["paper", ""],
    ["paper", "1 21"],
  ] as const)
    assert.equal(targetOf(loader, version), undefined);
});

test("a plan is possible without problems, or with those that are accepted", () => {
  const items = [{}] as never;
  const problem = (goes_on: string) => [{ goes_on }] as never;
  assert.ok(isPossible({ items, problems: [] }, false));
  assert.ok(!isPossible({ items: [], problems: [] }, true));
  assert.ok(isPossible({ items, problems: problem("yes") }, false));
  assert.ok(!isPossible({ items, problems: problem("ask") }, false));
  assert.ok(isPossible({ items, problems: problem("ask") }, true));
  assert.ok(!isPossible({ items, problems: problem("no") }, true));
});
