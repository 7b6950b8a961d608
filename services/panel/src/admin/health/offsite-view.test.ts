import assert from "node:assert/strict";
import { test } from "node:test";
import { type OffsiteStatus, offsiteProblemsOf, savedByPacks, viewOfCopies } from "./offsite-view.ts";

type State = NonNullable<OffsiteStatus["last"]>["state"];

const pass = (state: State) => ({
  state,
  started_at: "2026-11-23T02:00:00Z",
  ...{ sent: 0, sent_bytes: 0, deleted: 0, failed: 0, failures: [] },
});
const fine: OffsiteStatus = {
  configured: true,
  last: pass("completed"),
  last_completed_at: "2026-11-23T02:10:00Z",
  stale: false,
  max_age_seconds: 43_200,
  kinds: [],
};

for (const [sentence, given, problems] of [
  ["after a completed pass nothing is to do", {}, []],
  ["a first pass that runs is no problem", { last: pass("running") }, []],
  [
    "without a bucket nothing else is said",
    { configured: false, last: null, stale: true },
    ["not-configured"],
  ],
  ["a wrong key stops everything", { last: pass("wrong_key"), stale: true }, ["wrong-key"]],
  ["a standby waits, however old its passes are", { last: pass("standby"), stale: true }, ["standby"]],
  ["old copies are stale", { stale: true }, ["stale"]],
  [
    "those that were never made are not old ones",
    { last: null, last_completed_at: undefined, stale: true },
    ["never"],
  ],
  ["a failed pass is said beside its age", { last: pass("failed"), stale: true }, ["stale", "failed"]],
  ["a pass in which some objects failed is incomplete", { last: pass("incomplete") }, ["incomplete"]],
  ["a sample that could not be opened is said although all is copied", { damaged: ["db/a"] }, ["damaged"]],
] as readonly (readonly [string, Partial<OffsiteStatus>, string[]])[]) {
  test(sentence, () => assert.deepEqual(offsiteProblemsOf({ ...fine, ...given }), problems));
}

for (const [sentence, objects, missing, notWhole, view] of [
  ["all are there", 5, 0, 0, { whole: 5, wanted: 5, look: "running" }],
  ["there is nothing to copy", 0, 0, 0, { whole: 0, wanted: 0, look: "running" }],
  ["some are missing", 5, 2, 0, { whole: 5, wanted: 7, look: "failed" }],
  ["some are not whole", 5, 0, 1, { whole: 4, wanted: 5, look: "failed" }],
] as const) {
  test(`of a kind ${sentence}`, () => {
    const kind = { kind: "worlds", objects, bytes: 1, missing: [], not_whole: [] } as const;
    const counted = { ...kind, missing_count: missing, not_whole_count: notWhole };
    assert.deepEqual(viewOfCopies({ ...counted, missing: [], not_whole: [] }), view);
  });
}

test("packs are counted as no copies, and the manifests of archives in them are", () => {
  const lists = { missing: [], missing_count: 1, not_whole: [], not_whole_count: 0 };
  const packed = { copies: 3, whole_bytes: 300, packs: 2, bytes: 100 };
  const view = viewOfCopies({ objects: 6, bytes: 130, ...lists, packed });
  assert.deepEqual(view, { whole: 4, wanted: 5, look: "failed" });
});

for (const [sentence, whole_bytes, bytes, saved] of [
  ["save what whole copies would take beyond them", 300, 100, 200],
  ["save nothing while they take more than whole copies", 100, 130, 0],
  ["save nothing without a copy in them", 0, 10, 0],
] as const) {
  test(`packs ${sentence}`, () =>
    assert.equal(savedByPacks({ copies: 1, whole_bytes, packs: 1, bytes }), saved));
}
