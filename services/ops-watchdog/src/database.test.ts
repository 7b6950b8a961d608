import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { liveColumns, typedColumns } from "@svc/store/testing";
import type { Tables } from "./database.ts";
import { createWatchdogDatabase } from "./testing/fixture.ts";

// The compiler holds this list against the types, the test holds it against the live schema.
const columns: { [T in keyof Tables]: Record<keyof Tables[T], true> } = {
  webhooks: {
    ...{ id: true, server_name: true, owner_id: true, label: true, format: true, url: true, host: true },
    ...{ language: true, events: true, secret: true, old_secret: true, old_secret_until: true },
    ...{ enabled: true, off_reason: true, saved_by: true, saved_by_name: true, created_at: true },
    ...{ failing_since: true, last_attempt_at: true, last_attempt_ok: true, last_attempt_status: true },
    ...{ alerts_until: true, notice_due_at: true, notice_attempts: true },
  },
  webhook_deliveries: {
    ...{
      id: true,
      number: true,
      webhook_id: true,
      event_id: true,
      type: true,
      server_name: true,
      lane: true,
    },
    ...{ data: true, at: true, created_at: true, state: true, attempts: true, due_at: true, lease: true },
    ...{ lease_until: true, attempted_at: true, finished_at: true, status: true, error: true },
    ...{ failure: true, response: true, duration_ms: true },
  },
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

test("after a restore webhooks are off, and what waited is gone", async () => {
  const database = await createWatchdogDatabase();
  try {
    const run = (text: string) => database.admin(`set search_path to ops_watchdog; ${text}`);
    await run(`insert into webhooks (id, label, format, url, host, language, events, saved_by, saved_by_name, off_reason, enabled)
      values ('a', 'x', 'json', 'u', 'h', 'en', '{}', 'u', 'u', null, true),
        ('b', 'x', 'json', 'u', 'h', 'en', '{}', 'u', 'u', 'by_hand', false)`);
    await run(`insert into webhook_deliveries (id, webhook_id, event_id, type, lane, data, at, state)
      values ('1', 'a', '1', 'ping', 'x', '{}', now(), 'waiting'), ('2', 'a', '2', 'ping', 'x', '{}', now(), 'dead')`);
    await run(readFileSync(new URL("../restore/after.sql", import.meta.url), "utf8"));
    assert.deepEqual(await database.admin("select id, off_reason from ops_watchdog.webhooks order by id"), [
      { id: "a", off_reason: "restored" },
      { id: "b", off_reason: "by_hand" },
    ]);
    assert.deepEqual(await database.admin("select id from ops_watchdog.webhook_deliveries"), [{ id: "2" }]);
  } finally {
    await database.drop();
  }
});
