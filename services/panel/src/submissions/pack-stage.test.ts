import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { stageOf } from "./pack-stage.ts";

const digest = "a".repeat(64);

describe("a pack", () => {
  const cases = [
    ["without a file waits for one", { status: "pending_review" }, false, "noContext"],
    ["whose first file is on its way is uploading", { status: "pending_review" }, true, "uploading"],
    [
      "with a file waits for its review",
      { status: "pending_review", context_sha256: digest },
      false,
      "inReview",
    ],
    [
      "whose file is replaced is uploading",
      { status: "pending_review", context_sha256: digest },
      true,
      "uploading",
    ],
    ["that was rejected is rejected, whatever is on its way", { status: "rejected" }, true, "rejected"],
    ["that was approved without a build is handed off", { status: "approved" }, false, "handedOff"],
    ["whose build waits is queued", { status: "approved", build_status: "pending" }, false, "queued"],
    ["whose build runs is being built", { status: "approved", build_status: "building" }, false, "building"],
    ["whose build succeeded is ready", { status: "approved", build_status: "succeeded" }, true, "ready"],
    ["whose build failed says so", { status: "approved", build_status: "failed" }, false, "buildFailed"],
    [
      "whose build was cancelled says so",
      { status: "approved", build_status: "cancelled" },
      false,
      "buildCancelled",
    ],
  ] as const;
  for (const [name, submission, isUploading, expected] of cases)
    test(name, () => assert.equal(stageOf(submission, isUploading), expected));
});
