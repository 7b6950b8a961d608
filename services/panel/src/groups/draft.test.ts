import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { serverGroups } from "@svc/proto";
import {
  decideDraft,
  draftOf,
  emptyDraft,
  longestName,
  mostServers,
  mostStages,
  progressOf,
  times,
} from "./draft.ts";

const group = {
  ...{ id: "grp-1", name: "Evening", stage_seconds: 900 },
  stages: [
    [{ name: "hub", may: true }],
    [
      { name: "a", may: true },
      { name: "b", may: false },
    ],
  ],
};

describe("the draft of a group", () => {
  test("has the limits of the service", () => {
    assert.deepEqual(
      [mostStages, mostServers, longestName],
      [serverGroups.mostStages, serverGroups.mostServers, serverGroups.longestName],
    );
    const { least, most, default: usual } = serverGroups.stageSeconds;
    assert.ok(times.every((seconds) => seconds >= least && seconds <= most));
    assert.equal(emptyDraft.seconds, usual);
  });

  test("of a group that is saved unchanged is that group", () => {
    const { body } = decideDraft(draftOf(group));
    assert.deepEqual(body, { name: "Evening", stages: [["hub"], ["a", "b"]], stage_seconds: 900 });
  });

  test("closes up stages without a server", () => {
    const draft = { ...emptyDraft, name: " Night ", stages: { b: 7, a: 2, c: 0 } };
    assert.deepEqual(decideDraft(draft).body, { name: "Night", stages: [["a"], ["b"]], stage_seconds: 600 });
  });

  test("says what is missing or too much", () => {
    assert.deepEqual(decideDraft(emptyDraft), { body: undefined, problems: ["name", "stages"] });
    const stages = Object.fromEntries(Array.from({ length: mostServers + 1 }, (_, at) => [`s${at}`, 1]));
    assert.deepEqual(decideDraft({ ...emptyDraft, name: "x", stages }).problems, ["servers"]);
  });

  test("a run counts the servers that it is done with", () => {
    const stages = [
      ["done", "late"],
      ["asked", "waiting", "left_out"],
    ] as const;
    const named = stages.map((stage) => stage.map((result) => ({ name: result, result })));
    assert.deepEqual(progressOf({ stages: named }), { value: 3, max: 5 });
  });
});
