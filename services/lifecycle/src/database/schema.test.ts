import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createTestDatabase, liveColumns, typedColumns } from "@svc/store/testing";
import type { Tables } from "./schema.ts";

// The compiler compares this list with the types, the test compares it with the live schema.
const columns: { [T in keyof Tables]: Record<keyof Tables[T], true> } = {
  servers: {
    name: true,
    owner_id: true,
    claimed_at: true,
    last_active_at: true,
    warned_3d_at: true,
    warned_1d_at: true,
    cached_phase: true,
    created_at: true,
    deleted_at: true,
    cached_cpu_milli: true,
    cached_memory_mb: true,
    cached_storage_mb: true,
    retire_requested_at: true,
    retire_delete: true,
    offered: true,
    last_wake_at: true,
  },
  server_schedules: {
    id: true,
    server_name: true,
    owner_id: true,
    label: true,
    action: true,
    command: true,
    every_minutes: true,
    minute_of_day: true,
    weekdays: true,
    timezone: true,
    warn_minutes: true,
    enabled: true,
    next_run_at: true,
    warned_for: true,
    run_state: true,
    run_resume: true,
    run_step_at: true,
    run_job: true,
    last_run_at: true,
    last_result: true,
    last_detail: true,
    last_code: true,
    last_cause: true,
    created_by: true,
    created_at: true,
    updated_at: true,
  },
  server_aliases: { subdomain: true, server_name: true },
  server_allowlist: { server_name: true, mc_uuid: true, added_at: true, revoked_at: true },
  account_transfers: {
    transfer_id: true,
    from_user_id: true,
    to_user_id: true,
    servers: true,
    transferred_at: true,
  },
  player_versions: { mc_uuid: true, protocol: true, seen_on: true },
  player_names: { mc_uuid: true, name: true, seen_at: true },
  proxy_players: { proxy: true, players: true, seen_at: true },
  player_invitations: {
    id: true,
    from_uuid: true,
    from_name: true,
    to_uuid: true,
    server_name: true,
    expires_at: true,
  },
  server_changes: { id: true, entry: true, admitted_at: true },
  server_history: {
    server_name: true,
    at: true,
    step_minutes: true,
    players_sum: true,
    players_max: true,
    players_count: true,
    memory_mib_sum: true,
    cpu_milli_sum: true,
    usage_count: true,
    tps_sum: true,
    tps_count: true,
  },
  server_phases: { server_name: true, at: true, phase: true, is_wake: true, start_seconds: true },
  platform_history: {
    at: true,
    step_minutes: true,
    awake_sum: true,
    players_sum: true,
    players_max: true,
    samples: true,
  },
  server_crashes: {
    id: true,
    server_name: true,
    run: true,
    at: true,
    cause: true,
    detail: true,
    exit_code: true,
    exit_reason: true,
    ran_seconds: true,
    was_running: true,
    memory_mib: true,
    memory_limit_mib: true,
    lines: true,
  },
  console_follows: { server_name: true, replica: true, held_until: true, wanted_until: true },
};

test("the types have the columns of the live schema", async () => {
  const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));
  const database = await createTestDatabase({ schema: "lifecycle", migrations });
  try {
    assert.deepEqual(await liveColumns(database), typedColumns(columns));
  } finally {
    await database.drop();
  }
});
