import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { serverGroups } from "@svc/proto";
import { pick, resultRows, runText, secondsOf, stagesOf, stageText } from "./text.ts";

const run = (change: Partial<serverGroups.GroupRun> = {}): serverGroups.GroupRun => ({
  ...{ id: "run-1", direction: "start", state: "running", cancelling: false, stage: 1 },
  stages: [[{ name: "a", result: "done" }], [{ name: "b", result: "waiting", code: "at_capacity" }]],
  ...{ by: "ada", started_at: "2026-01-01T00:00:00.000Z" },
  ...change,
});
const group = (id: string, name: string): serverGroups.ServerGroup => ({
  ...{ id, name, stage_seconds: 600 },
  stages: [
    [{ name: "a", may: true }],
    [
      { name: "b", may: true },
      { name: "c", may: true },
    ],
  ],
});

describe("groups on the command line", () => {
  test("a stage is names with commas between them", () => {
    assert.deepEqual(stagesOf(["proxy", "a, b"]), [["proxy"], ["a", "b"]]);
    for (const wrong of ["", "a,", ",a"]) assert.throws(() => stagesOf([wrong]), /commas between them/);
  });

  test("a time is a span", () => {
    assert.deepEqual([secondsOf("10m"), secondsOf("90s")], [600, 90]);
    for (const wrong of ["soon", "0s", "-5m"]) assert.throws(() => secondsOf(wrong), /such as 90s, 10m/);
  });

  test("a group is found by its name, else by its id", () => {
    const groups = [group("grp-1", "Evening"), group("grp-2", "grp-1")];
    assert.equal(pick(groups, "grp-1").id, "grp-2");
    assert.equal(pick(groups, "grp-2").id, "grp-2");
    assert.throws(() => pick(groups, "Night"), /no group Night; list them/);
  });

  test("its order and its run are one line each", () => {
    assert.equal(stageText(group("grp-1", "Evening").stages), "a > b, c");
    assert.equal(stageText([]), "no server any more");
    const lines = [
      undefined,
      run(),
      run({ cancelling: true }),
      run({ state: "done" }),
      run({ state: "failed", direction: "stop" }),
    ];
    assert.deepEqual(lines.map(runText), [
      ...["-", "starting, stage 2 of 2", "cancelling, stage 2 of 2", "started", "not stopped"],
    ]);
  });

  test("each server has a row with its result and why", () => {
    assert.deepEqual(resultRows(run()), [
      ["1", "a", "done"],
      ["2", "b", "waiting: at_capacity"],
    ]);
  });
});
