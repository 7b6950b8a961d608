// Accounts, sessions and setup (docs/reference/sign-in.md#doors, docs/reference/accounts.md#me).
// Vocabulary: account = a row of `users`; session = a signed-in browser, known by the sha-256 of its cookie;
// setup = a staff account that has no durable sign-in method yet.

import { z } from "zod";
import { faceHosts } from "../caller.ts";
import { event, operation, request } from "../contract.ts";
import { Role } from "../role.ts";
import { EmailAddress, PlayerUuid, Sha256Hex, Timestamp } from "../text.ts";

/** docs/reference/sign-in.md#setup. */
export const SetupState = z.strictObject({
  user_id: z.string(),
  username: z.string(),
  role: Role,
  email: z.string(),
  email_verified: z.boolean(),
  has_passkey: z.boolean(),
  setup_required: z.boolean(),
});
export type SetupState = z.output<typeof SetupState>;

/** docs/reference/sign-in.md#session. */
export const SessionView = z.strictObject({
  token_hash: Sha256Hex,
  created_at: Timestamp,
  expires_at: Timestamp,
  last_seen_at: Timestamp,
  user_agent: z.string(),
  client_ip: z.string(),
  revoked_at: Timestamp.optional(),
  current: z.boolean().optional(),
});
export type SessionView = z.output<typeof SessionView>;

const CodeSent = z.strictObject({ sent: z.literal(true), expires_at: Timestamp });

export const redeemSetup = operation({
  subject: "identity.setup.redeem",
  http: {
    method: "POST",
    path: "/api/v1/auth/setup/redeem",
    face: "external",
    tier: "public",
    rateLimited: true,
    session: "mints",
  },
  body: { token: z.string().min(1).max(200) },
  output: SetupState,
  faults: ["setup_token_invalid"],
  onceById: true,
  summary: "Signs the first owner in with the one-time setup link.",
  spec: "docs/reference/sign-in.md#setup",
});

export const setupStatus = operation({
  subject: "identity.setup.status",
  http: { method: "GET", path: "/api/v1/auth/setup/status", face: "external", tier: "app", setup: true },
  output: SetupState,
  faults: ["not_found"],
  summary: "State of the caller's setup.",
  spec: "docs/reference/sign-in.md#setup",
});

export const logout = operation({
  subject: "identity.session.logout",
  http: { method: "POST", path: "/api/v1/auth/logout", face: "external", tier: "public", session: "ends" },
  output: z.strictObject({ ok: z.literal(true) }),
  idempotent: true,
  summary: "Ends the presented session, if there is one.",
  spec: "docs/reference/sign-in.md#doors",
});

export const me = operation({
  subject: "identity.account.me",
  http: { method: "GET", path: "/api/v1/me", face: "external", tier: "app", setup: true },
  output: z.strictObject({
    user_id: z.string(),
    username: z.string(),
    email: z.string(),
    role: Role,
    is_admin: z.boolean(),
    is_owner: z.boolean(),
    email_verified: z.boolean(),
  }),
  faults: ["auth_unavailable"],
  summary: "Who the caller is.",
  spec: "docs/reference/accounts.md#me",
});

export const startEmail = operation({
  subject: "identity.email.start",
  http: {
    method: "POST",
    path: "/api/v1/account/email/start",
    face: "external",
    tier: "app",
    setup: true,
    status: 202,
  },
  body: { email: EmailAddress },
  output: CodeSent,
  faults: [
    "reauth_required",
    "otp_resend_cooldown",
    "otp_account_locked",
    "mail_rate_limited",
    "mail_undeliverable",
    "mail_unavailable",
  ],
  summary: "Mails a code to an address that the caller wants to verify.",
  spec: "docs/reference/accounts.md#me",
  deadlineMs: 30_000,
});

export const verifyEmail = operation({
  subject: "identity.email.verify",
  http: { method: "POST", path: "/api/v1/account/email/verify", face: "external", tier: "app", setup: true },
  body: { code: z.string().min(1).max(32) },
  output: z.strictObject({ verified: z.literal(true), email: z.string() }),
  faults: ["invalid_code", "email_taken", "otp_locked", "otp_account_locked", "rate_limited"],
  onceById: true,
  summary: "Verifies the address with the mailed code.",
  spec: "docs/reference/accounts.md#me",
});

export const enterEmail = operation({
  subject: "identity.email.enter",
  http: { method: "POST", path: "/api/v1/account/email", face: "external", tier: "app", setup: true },
  body: { email: EmailAddress },
  output: z.strictObject({ email: z.string() }),
  faults: ["reauth_required"],
  onceById: true,
  summary: "Records an unverified address; a verified address of the account is replaced.",
  spec: "docs/reference/accounts.md#me",
});

export const listSessions = operation({
  subject: "identity.session.list",
  http: { method: "GET", path: "/api/v1/account/sessions", face: "external", tier: "app" },
  output: z.strictObject({ sessions: z.array(SessionView) }),
  summary: "The caller's sessions, most recently seen first.",
  spec: "docs/reference/accounts.md#me",
});

export const revokeSession = operation({
  subject: "identity.session.revoke",
  http: {
    method: "DELETE",
    path: "/api/v1/account/sessions/{hash}",
    face: "external",
    tier: "app",
    session: "ends",
  },
  params: { hash: z.string().max(128) },
  output: z.strictObject({ ok: z.literal(true), signed_out: z.boolean() }),
  faults: ["session_not_found"],
  onceById: true,
  summary: "Ends one of the caller's sessions.",
  spec: "docs/reference/accounts.md#me",
});

export const revokeOtherSessions = operation({
  subject: "identity.session.revoke-others",
  http: { method: "POST", path: "/api/v1/account/sessions/revoke-others", face: "external", tier: "app" },
  output: z.strictObject({ revoked: z.number().int() }),
  onceById: true,
  summary: "Ends all of the caller's sessions but this one.",
  spec: "docs/reference/accounts.md#me",
});

/** What a gateway learns about a cookie. `unknown` covers forged, expired, revoked and idle sessions. */
export const SessionAnswer = z.discriminatedUnion("state", [
  z.strictObject({
    state: z.literal("live"),
    user_id: z.string(),
    username: z.string(),
    role: Role,
    setup: z.boolean(),
    expires_at: Timestamp,
    /** The host it was created on, the only one on which it is valid. */
    host: z.enum(faceHosts),
  }),
  z.strictObject({ state: z.literal("unknown") }),
  z.strictObject({ state: z.literal("local_auth_off") }),
]);
export type SessionAnswer = z.output<typeof SessionAnswer>;

export const resolveSession = request({
  subject: "identity.session.resolve",
  input: {
    hash: Sha256Hex,
    /** False for a poll: the session is not seen, so that staff who left become idle. */
    is_use: z.boolean().default(true),
  },
  output: SessionAnswer,
  callers: ["gateway-external"],
  idempotent: true,
  deadlineMs: 3_000,
  tryMs: 1_000,
  maxInFlight: 1024,
  summary:
    "Looks up a session by the hash of its cookie and records that it was seen, unless it is only polled.",
  spec: "docs/reference/sign-in.md#session",
});

export const takeSignInBudget = request({
  subject: "identity.sign-in-budget.take",
  input: { address: z.string().max(64) },
  output: z.strictObject({ allowed: z.boolean(), retry_after_seconds: z.number().int().min(0) }),
  callers: ["gateway-external"],
  deadlineMs: 3_000,
  onceById: true,
  summary: "Takes one sign-in attempt from the budget of a client address (burst 20, 20 a minute).",
  spec: "docs/reference/http.md#rate-limit",
});

export const findLink = request({
  subject: "identity.link.find",
  input: { mc_uuid: PlayerUuid },
  output: z.strictObject({ account: z.strictObject({ user_id: z.string(), role: Role }).nullable() }),
  callers: ["lifecycle"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "The live account that a player is linked to.",
  spec: "docs/reference/links.md#redeem",
});

export const listLinks = request({
  subject: "identity.link.list",
  input: { user_id: z.string().max(64) },
  output: z.strictObject({ mc_uuids: z.array(z.string()) }),
  callers: ["lifecycle"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "The players that are linked to an account.",
  spec: "docs/reference/wake.md#policy",
});

export const nameAccounts = request({
  subject: "identity.account.name",
  input: { user_ids: z.array(z.string().max(64)).max(500) },
  output: z.strictObject({
    names: z.record(z.string(), z.string()),
    /** Linked players, in the order in which they were linked; an account without any may be missing. */
    players: z.record(z.string(), z.array(z.string())),
  }),
  callers: ["lifecycle"],
  idempotent: true,
  deadlineMs: 3_000,
  summary:
    "Display identities of accounts: the e-mail address, or the user name without one, and the players.",
  spec: "docs/reference/claims.md#own",
});

export const describeAccounts = request({
  subject: "identity.account.describe",
  input: { user_ids: z.array(z.string().max(64)).max(500) },
  output: z.strictObject({
    /** By id; accounts that are disabled, retired or gone are missing. */
    accounts: z.record(
      z.string(),
      z.strictObject({
        username: z.string(),
        /** Only a verified one. */
        email: z.string().optional(),
        mc_uuids: z.array(z.string()),
      }),
    ),
  }),
  callers: ["lifecycle", "ops-watchdog"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "Accounts that can be used: user name, verified address and linked players.",
  spec: "docs/reference/shared-access.md#accept",
});

export const sessionRevoked = event({
  subject: "identity.session.revoked",
  data: z.object({ hash: Sha256Hex, user_id: z.string(), at: z.iso.datetime() }),
  key: (data) => data.hash,
  sample: { hash: "0".repeat(64), user_id: "usr-1", at: "2026-01-01T00:00:00.000Z" },
  listeners: ["gateway-external"],
  summary: "A session or an API token was ended; gateways drop it at once.",
});

/** Why an account can no longer be used. */
export const RetiredBy = z.enum(["disabled", "deleted", "migrated"]);

export const accountRetired = event({
  subject: "identity.account.retired",
  data: z.object({
    user_id: z.string(),
    by: RetiredBy,
    /** The players that were linked to it then. */
    mc_uuids: z.array(z.string()),
    at: z.iso.datetime(),
  }),
  key: (data) => data.user_id,
  sample: {
    user_id: "usr-1",
    by: "disabled",
    mc_uuids: ["11111111-1111-4111-8111-111111111111"],
    at: "2026-01-01T00:00:00.000Z",
  },
  listeners: ["gateway-external", "gateway-internal", "lifecycle", "storage"],
  summary: "An account was disabled, deleted or merged into another; its running work ends.",
});
