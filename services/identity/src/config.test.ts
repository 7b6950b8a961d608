import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError, loadSettings } from "@svc/config";
import { adminOrigin, faceOrigin, mailBudget, settings } from "./config.ts";

const load = (...overrides: string[]) => loadSettings(settings, { overrides });
const minute = 60_000;
const hour = 60 * minute;

test("the defaults are those of the specification", () => {
  assert.deepEqual(load().identity, {
    session_ttl: 12 * hour,
    staff_idle: 30 * minute,
    last_seen_every: minute,
    session_list_limit: 500,
    api_token_longest: 366 * 24 * hour,
    api_tokens_per_account: 50,
    ssh_keys_per_account: 20,
    ssh_session_ttl: 12 * hour,
    ssh_sessions_per_account: 32,
    setup_token_ttl: 30 * minute,
    setup_url_file: "",
    reauth_ttl: 5 * minute,
    otp_ttl: 10 * minute,
    otp_tries: 5,
    otp_live_codes: 3,
    otp_resend: minute,
    otp_lock_failures: 10,
    otp_lock_window: 24 * hour,
    sign_in_burst: 20,
    sign_in_per_minute: 20,
    code_burst: 20,
    code_per_minute: 20,
    refusal_audit_every: 10 * minute,
    rate_limit_audit_every: minute,
    op_login_list_limit: 100,
    cli_login_ttl: 600_000,
    cli_logins_per_network: 10,
    oidc_provider: [],
    oidc_login_ttl: 10 * minute,
    oidc_logins_per_network: 64,
    oidc_timeout: 5_000,
    oidc_bytes: 262_144,
    oidc_keep: 10 * minute,
    oidc_links_per_account: 10,
    oidc_role_keep: 7 * 24 * hour,
    oidc_role_check: 15 * minute,
    password_session_ttl: 12 * hour,
    password_burst: 10,
    password_per_hour: 10,
    bind_code_ttl: 10 * minute,
    bind_codes_per_player: 5,
    hold_ttl: 30 * 24 * hour,
    migration_confirm_ttl: 10 * minute,
    migration_code_ttl: 10 * minute,
    migration_lease: 30_000,
    migration_retry: 15_000,
    mojang_session_url: "https://sessionserver.mojang.com/session/minecraft/hasJoined",
    mojang_profile_url: "https://api.minecraftservices.com/minecraft/profile/lookup/name/",
    session_source_timeout: 5_000,
    session_source_bytes: 65_536,
    mail_recipient_burst: 10,
    mail_recipient_per_hour: 20,
    mail_caller_share: 0.7,
    mail_reserve_burst: 6,
    mail_reserve_per_hour: 12,
    mail_timeout: 20_000,
    notice_every: 30_000,
    notice_keep: 72 * hour,
    passkey_challenge_ttl: 300_000,
    passkey_challenges_per_network: 32,
    passkey_challenges: 16_384,
    passkey_challenges_per_account: 10,
    passkeys_per_account: 50,
    deletion_retry: 15_000,
    retention_first: minute,
    retention_every: hour,
    expired_keep: 30 * 24 * hour,
  });
  assert.equal(load().audit.retention, 365 * 24 * hour);
  assert.equal(load().smtp.port, 587);
});

test("the audit log is kept at least 30 days, or forever", () => {
  assert.equal(load("audit.retention=forever").audit.retention, null);
  assert.equal(load("audit.retention=3mo").audit.retention, 90 * 24 * hour);
  assert.throws(() => load("audit.retention=29d"), ConfigError);
});

test("the mail budget is 120 an hour unless set, with a burst of a quarter and at least 5", () => {
  assert.deepEqual(mailBudget(load()), { perHour: 120, burst: 30 });
  assert.deepEqual(mailBudget(load("smtp.max_per_hour=8")), { perHour: 8, burst: 5 });
});

test("a relay requires a sender address", () => {
  assert.throws(() => load("smtp.host=localhost"), /smtp.from/);
});

test("the setup link points to the operator console", () => {
  assert.equal(adminOrigin(load("server.root_domain=example.org")), "https://op.console.example.org");
  assert.equal(adminOrigin(load("auth.admin_hostname=Ops.example.org")), "https://ops.example.org");
  const local = 'auth.extra_origins=["http://op.console.svc.localhost:8080"]';
  assert.equal(adminOrigin(load(local)), "http://op.console.svc.localhost:8080");
});

test("hosts have their origins, for the addresses that are registered at a provider", () => {
  const local = load('auth.extra_origins=["http://console.svc.localhost:8080"]');
  assert.equal(faceOrigin(local, "player"), "http://console.svc.localhost:8080");
  assert.equal(faceOrigin(local, "operator"), "https://op.console.svc.localhost");
  assert.equal(faceOrigin(load("auth.panel_hostname="), "player"), undefined);
});
