// Moving all servers of one account to another (docs/reference/server-transfer.md#states). World moves are storage's.
// Vocabulary: source = the account that gives its servers away and is retired by it; target = the one that gets them;
// step-up = the proof, given in the browser, that the source really wants it; it counts ten minutes, in that session.

import { z } from "zod";
import { operation } from "../contract.ts";
import { PlayerUuid, Timestamp } from "../text.ts";
import { TypedBindCode } from "./link.ts";
import { WebAuthnAnswer } from "./passkey.ts";

const path = "/api/v1/account/migrate";
const own = { face: "external", tier: "app" } as const;
const post = { method: "POST", ...own } as const;
const Confirmed = z.strictObject({ confirmed: z.literal(true) });

export const start = operation({
  subject: "identity.account-migration.start",
  http: {
    method: "POST",
    path: "/api/v1/internal/account/migrate/start",
    face: "internal",
    tier: "service",
    callers: ["velocity"],
    status: 201,
  },
  body: { mc_uuid: PlayerUuid },
  output: z.strictObject({ started: z.literal(true), state: z.literal("initiated") }),
  faults: ["migrate_not_linked", "account_is_retired", "owner_protected"],
  idempotent: true,
  summary:
    "Starts a server transfer of a player's account, replacing an unfinished one; nothing is transferred yet.",
  spec: "docs/reference/server-transfer.md#states",
});

export const MigrationState = z.enum(["initiated", "confirmed", "code_issued"]);
export type MigrationState = z.output<typeof MigrationState>;

export const ConfirmFactor = z.enum(["passkey", "email_otp"]);
export type ConfirmFactor = z.output<typeof ConfirmFactor>;

export const MigrationView = z.strictObject({
  active: z.boolean(),
  state: MigrationState.optional(),
  target_user_id: z.string().optional(),
  confirm_factor: ConfirmFactor.optional(),
  /** While confirmed. */
  confirm_expires_at: Timestamp.optional(),
  code_expires_at: Timestamp.optional(),
});
export type MigrationView = z.output<typeof MigrationView>;

export const read = operation({
  subject: "identity.account-migration.read",
  http: { method: "GET", path, ...own },
  output: MigrationView,
  summary: "State of the server transfer whose source is the caller.",
  spec: "docs/reference/server-transfer.md#states",
});

export const startCode = operation({
  subject: "identity.account-migration.start-code",
  http: { ...post, path: `${path}/confirm/otp/start`, status: 202 },
  output: z.strictObject({ sent: z.literal(true), expires_at: Timestamp }),
  faults: [
    "no_migration",
    "passkey_required",
    "already_confirmed",
    "no_step_up_factor",
    "otp_resend_cooldown",
    "otp_account_locked",
    "mail_rate_limited",
    "mail_undeliverable",
    "mail_unavailable",
  ],
  summary: "Mails the source a code to confirm with; refused while it has a passkey.",
  spec: "docs/reference/server-transfer.md#states",
  deadlineMs: 30_000,
});

export const verifyCode = operation({
  subject: "identity.account-migration.verify-code",
  http: { ...post, path: `${path}/confirm/otp/verify` },
  body: { code: z.string().min(1).max(32) },
  output: Confirmed,
  faults: [
    "invalid_code",
    "no_migration",
    "already_confirmed",
    "otp_locked",
    "otp_account_locked",
    "rate_limited",
  ],
  onceById: true,
  summary: "Confirms with the mailed code.",
  spec: "docs/reference/server-transfer.md#states",
});

export const beginPasskey = operation({
  subject: "identity.account-migration.begin-passkey",
  http: { ...post, path: `${path}/confirm/passkey/begin` },
  output: z.looseObject({ publicKey: z.looseObject({}) }),
  faults: ["no_migration", "no_passkey", "passkey_unavailable"],
  onceById: true,
  summary: "Options for the assertion that confirms.",
  spec: "docs/reference/server-transfer.md#states, docs/reference/sign-in.md#passkeys",
});

export const finishPasskey = operation({
  subject: "identity.account-migration.finish-passkey",
  http: { ...post, path: `${path}/confirm/passkey/finish` },
  body: { assertion: WebAuthnAnswer },
  output: Confirmed,
  faults: ["passkey_login_invalid", "no_migration", "already_confirmed", "passkey_unavailable"],
  onceById: true,
  summary: "Confirms with a passkey.",
  spec: "docs/reference/server-transfer.md#states",
});

export const issueCode = operation({
  subject: "identity.account-migration.issue-code",
  http: { ...post, path: `${path}/issue-code`, status: 201 },
  body: { target_user_id: z.string().min(1).max(64) },
  output: z.strictObject({ code: z.string(), expires_at: Timestamp }),
  faults: ["no_migration", "not_confirmed", "invalid_target", "target_not_found", "target_unavailable"],
  onceById: true,
  summary: "Issues a code that only the named account can redeem; the source is notified by mail.",
  spec: "docs/reference/server-transfer.md#states",
});

export const redeem = operation({
  subject: "identity.account-migration.redeem",
  http: { ...post, path: `${path}/redeem` },
  body: { code: TypedBindCode },
  output: z.strictObject({
    migrated: z.literal(true),
    servers_moved: z.number().int().min(0),
    servers: z.array(z.string()),
  }),
  faults: ["invalid_code", "migrate_quota_exceeded", "rate_limited"],
  summary: "Moves every server of the source to the caller and retires the source, in one transaction.",
  spec: "docs/reference/server-transfer.md#saga",
  deadlineMs: 20_000,
});
