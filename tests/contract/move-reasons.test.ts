import assert from "node:assert/strict";
import { test } from "node:test";
import { reasonOf } from "../../services/panel/src/settings/move-reason.ts";
import { type Agreed, decideMove, type Ends, type Observed } from "../../services/storage/src/move/decide.ts";

const agreed: Agreed = {
  source_node: "node-a",
  source_claim: "world-survival",
  source_claim_uid: "uid-1",
  target_node: "node-b",
};
const quiet: Ends = {
  world: { stopped: true, volume_claim: "world-survival" },
  holdsLock: true,
  canTargetTakeWorlds: true,
  source: { uid: "uid-1", node: "node-a", isOnline: true },
};
const source = { uid: "uid-1", node: "node-a", isOnline: true };
const receipt = { archive: "a.tar.zst", size_bytes: 1, sha256: "0".repeat(64) };
const unread = { kind: "done", done: { mode: "backup", unreadable_entries: 3 } as never } as const;

const disturbed = (ends: Partial<Ends>): Observed => ({
  step: "backing_up",
  ends: { ...quiet, ...ends },
  job: "running",
  receipt: undefined,
});
const copied = (about: Partial<Extract<Observed, { step: "backing_up" }>>): Observed => ({
  step: "backing_up",
  ends: quiet,
  job: "none",
  receipt: undefined,
  ...about,
});

const table: readonly (readonly [reason: ReturnType<typeof reasonOf>, observed: Observed])[] = [
  ["serverGone", disturbed({ world: undefined })],
  ["lockRemoved", disturbed({ holdsLock: false })],
  ["started", disturbed({ world: { stopped: false, volume_claim: "world-survival" } })],
  ["volumeChanged", disturbed({ world: { stopped: true, volume_claim: "another" } })],
  ["targetUnavailable", disturbed({ canTargetTakeWorlds: false })],
  ["volumeChanged", disturbed({ source: { ...source, uid: "uid-2" } })],
  ["volumeChanged", disturbed({ source: { ...source, node: "node-c" } })],
  ["sourceOffline", disturbed({ source: { ...source, isOnline: false } })],
  ["archiveLost", copied({ job: { kind: "done", done: { mode: "backup" } as never } })],
  ["unreadable", copied({ job: unread, receipt })],
  ["tookTooLong", copied({ job: { kind: "broken", message: "the job exceeded its deadline" } })],
  ["other", copied({ job: { kind: "broken", message: "the pod was evicted" } })],
  ["archiveLost", { step: "restoring", ends: quiet, job: "none", backup: undefined }],
  ["notSwitched", { step: "switching", areJobsGone: true, targetNode: "node-c" }],
];

test("the panel has words for every reason for which a move stops", () => {
  for (const [reason, observed] of table) {
    const plan = decideMove(observed, agreed, 60_000);
    assert.ok(plan.action === "fail", reason);
    assert.equal(reasonOf(plan.message), reason, plan.message);
  }
});
