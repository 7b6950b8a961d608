// Where a pack stands, and what happens next (docs/reference/submissions.md#states). Pure.

import type { Output } from "../api/operations.ts";
import type { StatusLook } from "../ui/status.tsx";

export type Submission = Output<"submissions.readOwn">;

const packStages = [
  "noContext",
  "uploading",
  "inReview",
  "rejected",
  "handedOff",
  "queued",
  "building",
  "ready",
  "buildFailed",
  "buildCancelled",
] as const;
type PackStage = (typeof packStages)[number];

type Standing = Pick<Submission, "status" | "context_sha256" | "build_status">;

/** The stage of a pack; a new file that is on its way counts only as long as nobody has reviewed the pack. */
export function stageOf({ status, context_sha256, build_status }: Standing, isUploading: boolean): PackStage {
  if (status === "rejected") return "rejected";
  if (status === "pending_review") {
    if (isUploading) return "uploading";
    return context_sha256 === undefined ? "noContext" : "inReview";
  }
  return build_status === undefined ? "handedOff" : stageOfBuild[build_status];
}

const stageOfBuild = {
  pending: "queued",
  building: "building",
  succeeded: "ready",
  failed: "buildFailed",
  cancelled: "buildCancelled",
} as const;

export const lookOfStage: Record<PackStage, StatusLook> = {
  noContext: "unknown",
  uploading: "starting",
  inReview: "starting",
  rejected: "failed",
  handedOff: "starting",
  queued: "starting",
  building: "starting",
  ready: "running",
  buildFailed: "failed",
  buildCancelled: "unknown",
};

/** Whether something changes without the author, so that the list is worth reading often. */
export function isMoving(stage: PackStage): boolean {
  return stage === "handedOff" || stage === "queued" || stage === "building";
}
