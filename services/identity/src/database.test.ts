import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tables } from "./database.ts";
import { createIdentityDatabase } from "./testing/bed.ts";

// The compiler holds this list against the types, the test holds it against the live schema.
const columns: { [T in keyof Tables]: Record<keyof Tables[T], true> } = {
  users: {
    id: true,
    username: true,
    email: true,
    role: true,
    email_verified: true,
    disabled: true,
    deleted_at: true,
    created_at: true,
    updated_at: true,
    language: true,
    password_hash: true,
    search: true,
  },
  webauthn_credentials: {
    id: true,
    user_id: true,
    credential_id: true,
    public_key: true,
    sign_count: true,
    aaguid: true,
    name: true,
    user_verified: true,
    backup_eligible: true,
    backup_state: true,
    transports: true,
    created_at: true,
    last_used_at: true,
  },
  webauthn_challenges: {
    id: true,
    user_id: true,
    purpose: true,
    challenge: true,
    session: true,
    source: true,
    created_at: true,
    expires_at: true,
    consumed_at: true,
  },
  user_deletions: { user_id: true, requested_at: true, next_at: true, released_at: true },
  account_links: { user_id: true, mc_uuid: true, verified_at: true, auth_source: true },
  quotas: {
    user_id: true,
    max_servers: true,
    max_cpu_milli: true,
    max_memory_mb: true,
    max_storage_gb: true,
    updated_at: true,
    updated_by: true,
  },
  sessions: {
    token_hash: true,
    user_id: true,
    door: true,
    created_at: true,
    expires_at: true,
    revoked_at: true,
    user_agent: true,
    client_ip: true,
    last_seen_at: true,
    reauth_at: true,
  },
  setup_tokens: { token_hash: true, user_id: true, expires_at: true, consumed_at: true, created_at: true },
  email_otps: {
    id: true,
    user_id: true,
    email: true,
    code_hash: true,
    purpose: true,
    attempts: true,
    expires_at: true,
    consumed_at: true,
    created_at: true,
  },
  otp_failure_windows: { user_id: true, purpose: true, window_start: true, failures: true },
  otp_reservations: { key: true, free_at: true, expires_at: true },
  platform_settings: { key: true, value: true, updated_at: true },
  audit_logs: {
    id: true,
    entry_id: true,
    actor: true,
    source: true,
    action: true,
    server_name: true,
    request_id: true,
    payload: true,
    created_at: true,
    actor_user_id: true,
    client_ip: true,
    user_agent: true,
  },
  sign_in_budgets: { key: true, tokens: true, refilled_at: true },
  mail_budgets: { key: true, tokens: true, refilled_at: true },
  mail_notices: {
    id: true,
    kind: true,
    recipient: true,
    facts: true,
    attempts: true,
    next_at: true,
    created_at: true,
    language: true,
  },
  op_login_requests: {
    id: true,
    user_id: true,
    email: true,
    attempts: true,
    expires_at: true,
    created_at: true,
    consumed_at: true,
    approved_at: true,
    approved_by: true,
    client_ip: true,
    user_agent: true,
  },
  account_link_codes: {
    code_hash: true,
    mc_uuid: true,
    auth_source: true,
    expires_at: true,
    created_at: true,
  },
  username_blacklist: { mc_uuid: true, username: true, reason: true, blacklisted_at: true },
  player_data_holds: {
    id: true,
    mc_uuid: true,
    username: true,
    data_ref: true,
    held_at: true,
    expires_at: true,
    reclaimed_by_user_id: true,
    reclaimed_at: true,
  },
  account_migrations: {
    id: true,
    source_user_id: true,
    target_user_id: true,
    state: true,
    confirm_factor: true,
    confirmed_at: true,
    confirm_session: true,
    code_hash: true,
    code_expires_at: true,
    leased_until: true,
    servers: true,
    told_at: true,
    redeemed_at: true,
    created_at: true,
    updated_at: true,
  },
  sign_in_misses: { slot: true, tries: true, last_at: true },
};

test("the types have the columns of the live schema", async () => {
  const database = await createIdentityDatabase();
  try {
    const rows = await database.admin(
      `select table_name, column_name from information_schema.columns
       where table_schema = 'identity' and table_name not in ('outbox', 'schema_migrations')`,
    );
    const live: Record<string, string[]> = {};
    for (const row of rows) {
      const table = String(row["table_name"]);
      live[table] = [...(live[table] ?? []), String(row["column_name"])].sort();
    }
    const typed = Object.fromEntries(
      Object.entries(columns).map(([table, names]) => [table, Object.keys(names).sort()]),
    );
    assert.deepEqual(live, typed);
  } finally {
    await database.drop();
  }
});
