import assert from "node:assert/strict";
import { test } from "node:test";
import { builds } from "@svc/proto";
import { endOf } from "./announce.ts";
import type { BuildRow } from "./row.ts";

const digest = `sha256:${"a".repeat(64)}`;
const row: BuildRow = {
  id: "0".repeat(32),
  arrival: "1",
  kind: "build",
  image_ref: "registry.test/packs/one:1",
  status: "succeeded",
  dockerfile: "FROM scratch",
  context_ref: "http://svc/context",
  context_digest: null,
  base_image: null,
  requested_by: "alice",
  requested_by_id: "usr-1",
  submission_id: null,
  retry_of: null,
  job_name: null,
  log_ref: null,
  error: null,
  image_digest: digest,
  bases: [],
  steps: [],
  launched_at: null,
  sealed_at: null,
  documents_token_hashes: ["secret"],
  created_at: new Date(0),
  started_at: new Date(0),
  finished_at: new Date(1_000),
  cleaned_at: null,
};
const pack = { id: "sub-1", submitted_by_id: "usr-2", display_name: "Cliffs" };
const common = {
  id: row.id,
  image_ref: row.image_ref,
  requested_by: "alice",
  at: "1970-01-01T00:00:01.000Z",
};
const packed = { submission_id: "sub-1", owner_id: "usr-2", display_name: "Cliffs" };
const failed = (error: string): Partial<BuildRow> => ({ status: "failed", error });
const long = "x".repeat(600);

const ends: Record<string, [change: Partial<BuildRow>, more: object]> = {
  "that succeeded has its digest": [{}, { outcome: "succeeded", digest }],
  "that was cancelled has neither digest nor cause": [{ status: "cancelled" }, { outcome: "cancelled" }],
  "that repeats another names it": [{ retry_of: "b" }, { outcome: "succeeded", digest, retry_of: "b" }],
  "that failed in a step names step and cause": [
    failed("scan-gate: the scan blocked the image: 1 CRITICAL"),
    { outcome: "failed", failed_step: "scan-gate", cause: "the scan blocked the image: 1 CRITICAL" },
  ],
  "whose provenance was refused says so": [
    failed("provenance: it is rejected"),
    { outcome: "failed", failed_step: "provenance", cause: "it is rejected" },
  ],
  "that failed outside of every step has a cause alone": [
    failed("the cluster rejected the build's Job: no: quota"),
    { outcome: "failed", cause: "the cluster rejected the build's Job: no: quota" },
  ],
  "that failed with many words has the first": [
    failed(`build: ${long}`),
    { outcome: "failed", failed_step: "build", cause: `${"x".repeat(499)}…` },
  ],
};
for (const [fact, [change, more]] of Object.entries(ends))
  test(`the event of a build ${fact}`, () => {
    const data = endOf({ ...row, ...change }, pack);
    assert.deepEqual(data, { ...common, ...packed, ...more });
    assert.ok(builds.buildEnded.data.safeParse(data).success);
  });

test("the event of a build without a submission names none", () =>
  assert.deepEqual(endOf(row, undefined), { ...common, outcome: "succeeded", digest }));

test("a scan, and what has not ended, has no event", () => {
  assert.equal(endOf({ ...row, kind: "scan" }, undefined), undefined);
  assert.equal(endOf({ ...row, status: "building", finished_at: null }, undefined), undefined);
});
