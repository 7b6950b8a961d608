// Sign-in: options, mailed codes, operator login, bind code, local password (docs/reference/sign-in.md#doors, docs/reference/sign-in.md#codes).
// Vocabulary: operator login = staff sign in with a mailed code and the approval of a
// player in the game who is staff; approver = that player.

import { z } from "zod";
import { operation } from "../contract.ts";
import { Role } from "../role.ts";
import { EmailAddress, PlayerUuid, Timestamp } from "../text.ts";

/** Response of every sign-in except setup and bind, beside the session cookie. */
export const LoginResult = z.strictObject({ user_id: z.string(), role: Role });
export type LoginResult = z.output<typeof LoginResult>;

/** A mailed code as it is typed. */
export const TypedCode = z.string().min(1).max(32);
const OpLoginId = z.string().min(1).max(64);

const door = { method: "POST", face: "external", tier: "public", rateLimited: true } as const;
const velocity = { face: "internal", tier: "service", callers: ["velocity"] } as const;

export const options = operation({
  subject: "identity.sign-in.options",
  http: { ...door, path: "/api/v1/auth/options" },
  body: { email: EmailAddress },
  output: z.strictObject({
    methods: z.array(z.enum(["passkey", "email_otp"])),
    /** Passwords are accepted here, whatever the address; absent while they are not. */
    password: z.literal(true).optional(),
  }),
  idempotent: true,
  summary: "Sign-in methods of an address, passkey first; none for an unknown or unverified one.",
  spec: "docs/reference/sign-in.md#doors",
});

export const startEmail = operation({
  subject: "identity.sign-in.start-email",
  http: { ...door, path: "/api/v1/auth/email/start", status: 202 },
  body: { email: EmailAddress },
  output: z.strictObject({ sent: z.literal(true), expires_at: Timestamp }),
  faults: ["mail_rate_limited", "mail_undeliverable", "mail_unavailable"],
  summary: "Mails a sign-in code if the address has an account; the answer is the same when it has none.",
  spec: "docs/reference/sign-in.md#doors, docs/reference/sign-in.md#no-oracle",
  deadlineMs: 30_000,
});

export const verifyEmail = operation({
  subject: "identity.sign-in.verify-email",
  http: { ...door, path: "/api/v1/auth/email/verify", session: "mints" },
  body: { email: EmailAddress, code: TypedCode },
  output: LoginResult,
  faults: ["invalid_code", "staff_account"],
  onceById: true,
  summary: "Signs a player in with the mailed code.",
  spec: "docs/reference/sign-in.md#doors",
});

export const startOpLogin = operation({
  subject: "identity.op-login.start",
  http: { ...door, path: "/api/v1/auth/op-login/start", status: 202 },
  body: { email: EmailAddress },
  output: z.strictObject({ request_id: z.string(), expires_at: Timestamp }),
  faults: ["mail_rate_limited", "mail_undeliverable", "mail_unavailable"],
  summary:
    "Opens an operator login and mails its code if the address is staff; the answer is the same if not.",
  spec: "docs/reference/sign-in.md#operator-login",
  deadlineMs: 30_000,
});

export const readOpLoginStatus = operation({
  subject: "identity.op-login.read-status",
  http: { method: "GET", face: "external", tier: "public", path: "/api/v1/auth/op-login/status/{id}" },
  params: { id: z.string().max(128) },
  output: z.strictObject({ approved: z.boolean() }),
  summary: "Whether an operator login was approved in the game and can still be finished.",
  spec: "docs/reference/sign-in.md#operator-login",
});

export const finishOpLogin = operation({
  subject: "identity.op-login.finish",
  http: { ...door, path: "/api/v1/auth/op-login/finish", session: "mints" },
  body: { request_id: OpLoginId, code: TypedCode },
  output: LoginResult,
  faults: ["op_login_invalid", "staff_account"],
  onceById: true,
  summary: "Signs staff in with the mailed code once the login was approved in the game.",
  spec: "docs/reference/sign-in.md#operator-login",
});

export const listPendingOpLogins = operation({
  subject: "identity.op-login.list-pending",
  http: { ...velocity, method: "GET", path: "/api/v1/internal/op-login/pending" },
  output: z.strictObject({
    pending: z.array(
      z.strictObject({
        request_id: z.string(),
        username: z.string(),
        email: z.string(),
        client_ip: z.string(),
        created_at: Timestamp,
      }),
    ),
  }),
  summary: "Operator logins that wait for an approval, oldest first.",
  spec: "docs/reference/sign-in.md#operator-login",
});

export const readOpLogin = operation({
  subject: "identity.op-login.read",
  http: { ...velocity, method: "GET", path: "/api/v1/internal/op-login/{id}" },
  params: { id: OpLoginId },
  query: { approver_uuid: PlayerUuid },
  output: z.strictObject({
    request_id: z.string(),
    username: z.string(),
    email: z.string(),
    client_ip: z.string(),
    user_agent: z.string(),
    created_at: Timestamp,
    expires_at: Timestamp,
  }),
  faults: ["not_admin", "op_login_not_found"],
  summary: "Who asks for an operator login and from where, for the player who is to approve it.",
  spec: "docs/reference/sign-in.md#operator-login",
});

export const approveOpLogin = operation({
  subject: "identity.op-login.approve",
  http: { ...velocity, method: "POST", path: "/api/v1/internal/op-login/{id}/approve" },
  params: { id: OpLoginId },
  body: { approver_uuid: PlayerUuid, username: z.string().min(1).max(128) },
  output: z.strictObject({ approved: z.literal(true), username: z.string(), email: z.string() }),
  faults: ["not_admin", "op_login_not_found", "op_login_mismatch"],
  onceById: true,
  summary: "Approves an operator login; the approver repeats the name of the account.",
  spec: "docs/reference/sign-in.md#operator-login",
});

export const passwordLogin = operation({
  subject: "identity.sign-in.password",
  http: { ...door, path: "/api/v1/auth/password", session: "mints" },
  body: { username: z.string().min(1).max(128), password: z.string().min(1).max(1024) },
  output: LoginResult,
  faults: ["local_auth_disabled", "rate_limited"],
  // Each try takes 19 MiB and a processor for a moment.
  maxInFlight: 8,
  onceById: true,
  summary: "Signs in with a local password while the setting local_auth_enabled is on.",
  spec: "docs/reference/sign-in.md#doors",
});
