import assert from "node:assert/strict";
import { test } from "node:test";
import { createStorageDatabase } from "../testing/fixture.ts";
import type { Tables } from "./tables.ts";

type Own = Pick<
  Tables,
  "world_backups" | "world_jobs" | "world_migrations" | "archive_tickets" | "drills" | "offsite_confirmations"
>;

// The compiler holds this list against the types, the test holds it against the live schema.
const columns: { [T in keyof Own]: Record<keyof Own[T], true> } = {
  world_backups: {
    id: true,
    server_name: true,
    former_owner: true,
    backup_ref: true,
    size_bytes: true,
    reason: true,
    status: true,
    created_at: true,
    expires_at: true,
    deleted_at: true,
    offsite_at: true,
    sha256: true,
    verified_at: true,
    corrupt_at: true,
    skipped_entries: true,
    unreadable_entries: true,
    label: true,
    pinned_at: true,
    pinned_by_owner: true,
    job: true,
    world_bytes: true,
  },
  drills: {
    id: true,
    server_name: true,
    backup_id: true,
    state: true,
    message: true,
    code: true,
    version: true,
    boot_seconds: true,
    started_at: true,
    finished_at: true,
  },
  world_jobs: {
    job: true,
    server_name: true,
    kind: true,
    state: true,
    message: true,
    code: true,
    owner_id: true,
    started_by: true,
    reason: true,
    archive: true,
    run_key: true,
    backup_id: true,
    then_restore: true,
    then_restore_reason: true,
    only_paths: true,
    recovery: true,
    audit: true,
    started_at: true,
    finished_at: true,
  },
  world_migrations: {
    id: true,
    server_name: true,
    state: true,
    stage: true,
    source_node: true,
    target_node: true,
    source_claim: true,
    source_claim_uid: true,
    target_claim: true,
    lock: true,
    locked_at: true,
    owner_id: true,
    started_by: true,
    backup_id: true,
    switched: true,
    attempt: true,
    error: true,
    abandoned: true,
    cancelled_at: true,
    cancelled_by: true,
    started_at: true,
    updated_at: true,
  },
  offsite_confirmations: { id: true, listed_at: true },
  archive_tickets: {
    id: true,
    kind: true,
    job: true,
    archive: true,
    token_hash: true,
    expires_at: true,
    used_at: true,
    received_at: true,
    size_bytes: true,
    sha256: true,
  },
};

test("the types of backups, jobs, moves and tickets have the columns of the live schema", async () => {
  const database = await createStorageDatabase();
  try {
    for (const [table, names] of Object.entries(columns)) {
      const rows = await database.admin(
        "select column_name from information_schema.columns where table_schema = 'storage' and table_name = $1",
        [table],
      );
      assert.deepEqual(rows.map((row) => row["column_name"]).sort(), Object.keys(names).sort(), table);
    }
  } finally {
    await database.drop();
  }
});
