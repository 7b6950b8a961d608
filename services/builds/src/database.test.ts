import assert from "node:assert/strict";
import { test } from "node:test";
import { liveColumns, typedColumns } from "@svc/store/testing";
import type { Tables } from "./database.ts";
import { createBuildsDatabase } from "./testing/fixture.ts";

// The compiler holds this list against the types, the test holds it against the live schema.
const columns: { [T in keyof Tables]: Record<keyof Tables[T], true> } = {
  image_whitelist: {
    image_ref: true,
    source: true,
    build_id: true,
    added_by: true,
    enabled: true,
    added_at: true,
    digest: true,
  },
  image_provenances: {
    build_id: true,
    digest: true,
    manifest_digest: true,
    statement: true,
    created_at: true,
  },
  image_builds: {
    id: true,
    arrival: true,
    kind: true,
    image_ref: true,
    status: true,
    dockerfile: true,
    context_ref: true,
    context_digest: true,
    base_image: true,
    requested_by: true,
    requested_by_id: true,
    submission_id: true,
    retry_of: true,
    job_name: true,
    log_ref: true,
    error: true,
    image_digest: true,
    bases: true,
    steps: true,
    launched_at: true,
    sealed_at: true,
    documents_token_hashes: true,
    created_at: true,
    started_at: true,
    finished_at: true,
    cleaned_at: true,
  },
  image_build_documents: { build_id: true, document: true, gz: true, received_at: true },
  image_build_logs: { build_id: true, gz: true, stored_at: true },
  image_build_scans: {
    build_id: true,
    blocked: true,
    summary: true,
    report_gz: true,
    sbom_gz: true,
    scanned_at: true,
  },
  image_submissions: {
    id: true,
    arrival: true,
    submitted_by: true,
    submitted_by_id: true,
    display_name: true,
    status: true,
    image_ref: true,
    build_id: true,
    context_sha256: true,
    context_bytes: true,
    uploaded_at: true,
    reviewed_by: true,
    reject_reason: true,
    created_at: true,
    reviewed_at: true,
    context_parts: true,
    context_index: true,
    dockerfile: true,
    pack_format: true,
  },
  recurring_tasks: { name: true, due_at: true },
  finding_acceptances: {
    id: true,
    arrival: true,
    finding_id: true,
    package: true,
    repository: true,
    reason: true,
    accepted_by: true,
    accepted_at: true,
    expires_at: true,
  },
  recommended_images: { image_ref: true, seeded_at: true },
  submission_cooldowns: { user_id: true, kind: true, started_at: true },
  submission_notices: {
    id: true,
    event: true,
    user_id: true,
    kind: true,
    facts: true,
    created_at: true,
    due_at: true,
    attempts: true,
    sent_at: true,
  },
  submission_packs: { submission_id: true, plan: true },
  submission_uploads: {
    submission_id: true,
    parts: true,
    received_bytes: true,
    reserved_bytes: true,
    writer: true,
    writer_until: true,
    touched_at: true,
  },
};

test("the types have the columns of the live schema", async () => {
  const database = await createBuildsDatabase();
  try {
    assert.deepEqual(await liveColumns(database), typedColumns(columns));
  } finally {
    await database.drop();
  }
});
