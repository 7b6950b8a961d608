import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isMoving, type Migration, stepsOf, targetsOf } from "./move-steps.ts";

describe("the steps of a move", () => {
  const cases: [string, Migration["state"], string, string][] = [
    ["the first runs", "backing_up", "backing_up", "running waiting waiting"],
    ["the second runs", "restoring", "restoring", "done running waiting"],
    ["the last runs", "switching", "switching", "done done running"],
    ["all are done", "succeeded", "succeeded", "done done done"],
    ["one failed", "failed", "restoring", "done failed waiting"],
    ["an unknown stage claims nothing", "failed", "paused", "waiting waiting waiting"],
  ];
  for (const [name, state, stage, expected] of cases)
    test(name, () =>
      assert.equal(
        stepsOf({ state, stage })
          .map(([, step]) => step)
          .join(" "),
        expected,
      ),
    );
});

test("a move works on the world until it ended", () => {
  assert.equal(isMoving({ state: "switching" }), true);
  for (const state of ["succeeded", "failed"] as const) assert.equal(isMoving({ state }), false);
  assert.equal(isMoving(undefined), false);
});

test("a world moves to another approved worker that answers", () => {
  const node = { role: "worker", ready: true, approved: true, addresses: [], architecture: "amd64" };
  const nodes = [
    { ...node, name: "here" },
    { ...node, name: "there" },
    { ...node, name: "down", ready: false },
    { ...node, name: "new", approved: false },
    { ...node, name: "controller", role: "controller" },
  ];
  assert.deepEqual(targetsOf(nodes, "here"), ["there"]);
});
