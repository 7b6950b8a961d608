import assert from "node:assert/strict";
import { test } from "node:test";
import { liveColumns, typedColumns } from "@svc/store/testing";
import type { Tables } from "./database.ts";
import { createWatchdogDatabase } from "./testing/fixture.ts";

// The compiler holds this list against the types, the test holds it against the live schema.
const columns: { [T in keyof Tables]: Record<keyof Tables[T], true> } = {
  update_window: { id: true, starts_at: true, ends_at: true, updated_at: true },
  update_reports: { id: true, checked_at: true, version: true, components: true },
  database_bundles: {
    name: true,
    label: true,
    taken_at: true,
    size_bytes: true,
    version: true,
    schema_version: true,
    dir: true,
    servers_error: true,
    damage: true,
  },
  rehearsals: {
    id: true,
    bundle: true,
    started_at: true,
    duration_ms: true,
    row_count: true,
    error: true,
  },
  restores: { id: true, bundle: true, loaded_at: true, finished_at: true },
  offsite_passes: {
    id: true,
    started_at: true,
    beat_at: true,
    finished_at: true,
    state: true,
    progress: true,
    report: true,
  },
};

test("the types have the columns of the live schema", async () => {
  const database = await createWatchdogDatabase();
  try {
    assert.deepEqual(await liveColumns(database), typedColumns(columns));
  } finally {
    await database.drop();
  }
});
