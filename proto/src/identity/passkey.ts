// Passkeys: registration, both logins, and the proof that it is still you (docs/reference/sign-in.md#passkeys, docs/reference/sign-in.md#proofs).
// Vocabulary: passkey = a bound WebAuthn credential; ceremony = begin and finish around one challenge; discoverable =
// the passkey itself says whose it is; proof = who sits here was asked again within the last five minutes.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { EmailAddress, Timestamp } from "../text.ts";
import { LoginResult, TypedCode } from "./sign-in.ts";

/** What the browser's WebAuthn call takes; its shape is the standard's. */
const WebAuthn = z.record(z.string(), z.unknown());

const deepestAnswer = 16;

/** What the browser's WebAuthn call gives, in the standard's JSON form; extensions may nest, 16 levels at most. */
export const WebAuthnAnswer = WebAuthn.refine(
  (answer) => isShallow(answer, deepestAnswer),
  `must not nest deeper than ${deepestAnswer} levels`,
);

// Level by level: what nests a hundred thousand levels must not be walked by recursion.
function isShallow(value: unknown, levels: number): boolean {
  let level = [value];
  for (let depth = 0; depth <= levels; depth++) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (level.length === 0) return true;
  }
  return false;
}

/** What the holder calls a passkey. */
const PasskeyName = z
  .string()
  .trim()
  .max(64)
  .regex(/^\P{C}*$/u, "must be at most 64 visible characters");

/** docs/reference/sign-in.md#passkeys. */
export const PasskeyCredential = z.strictObject({
  id: z.string(),
  name: z.string(),
  created_at: Timestamp,
  aaguid: z.string().optional(),
  last_used_at: Timestamp.optional(),
});
export type PasskeyCredential = z.output<typeof PasskeyCredential>;

/** docs/reference/sign-in.md#proofs. */
const Reauthed = z.strictObject({ ok: z.literal(true), until: Timestamp });

const door = { method: "POST", face: "external", tier: "public", rateLimited: true } as const;
const own = { face: "external", tier: "app", setup: true } as const;

export const beginLogin = operation({
  subject: "identity.passkey.begin-login",
  http: { ...door, path: "/api/v1/auth/passkey/login/begin" },
  body: { email: EmailAddress },
  output: WebAuthn,
  faults: ["no_passkey", "passkey_login_failed", "too_many_challenges", "passkey_unavailable"],
  onceById: true,
  summary: "Starts a passkey sign-in for an address.",
  spec: "docs/reference/sign-in.md#passkeys",
});

export const finishLogin = operation({
  subject: "identity.passkey.finish-login",
  http: { ...door, path: "/api/v1/auth/passkey/login/finish", session: "mints" },
  body: { email: EmailAddress, assertion: WebAuthnAnswer },
  output: LoginResult,
  faults: ["passkey_login_invalid", "passkey_unavailable"],
  onceById: true,
  summary: "Signs in with the passkey of an address.",
  spec: "docs/reference/sign-in.md#passkeys",
});

export const beginDiscoverable = operation({
  subject: "identity.passkey.begin-discoverable",
  http: { ...door, path: "/api/v1/auth/passkey/login/discoverable/begin" },
  output: z.strictObject({ publicKey: WebAuthn, login_id: z.string() }),
  faults: ["passkey_login_failed", "too_many_challenges", "passkey_unavailable"],
  onceById: true,
  summary: "Starts a sign-in in which the passkey says whose it is.",
  spec: "docs/reference/sign-in.md#passkeys",
});

export const finishDiscoverable = operation({
  subject: "identity.passkey.finish-discoverable",
  http: { ...door, path: "/api/v1/auth/passkey/login/discoverable/finish", session: "mints" },
  body: { login_id: z.string().min(1).max(64), assertion: WebAuthnAnswer },
  output: LoginResult,
  faults: ["passkey_login_invalid", "passkey_unavailable"],
  onceById: true,
  summary: "Signs in the account that the passkey belongs to.",
  spec: "docs/reference/sign-in.md#passkeys",
});

export const beginRegister = operation({
  subject: "identity.passkey.begin-register",
  http: { ...own, method: "POST", path: "/api/v1/account/passkey/register/begin" },
  output: WebAuthn,
  faults: ["reauth_required", "passkey_register_failed", "passkey_unavailable"],
  onceById: true,
  summary: "Starts binding a passkey to the caller.",
  spec: "docs/reference/sign-in.md#passkeys",
});

export const finishRegister = operation({
  subject: "identity.passkey.finish-register",
  http: { ...own, method: "POST", path: "/api/v1/account/passkey/register/finish", status: 201 },
  body: { attestation: WebAuthnAnswer, name: PasskeyName.optional() },
  output: PasskeyCredential,
  faults: ["passkey_register_failed", "passkey_taken", "reauth_required", "passkey_unavailable"],
  onceById: true,
  summary: "Binds the passkey; counts as a proof.",
  spec: "docs/reference/sign-in.md#passkeys",
});

export const list = operation({
  subject: "identity.passkey.list",
  http: { ...own, method: "GET", path: "/api/v1/account/passkey/credentials" },
  output: z.strictObject({ credentials: z.array(PasskeyCredential) }),
  summary: "The caller's passkeys, newest first.",
  spec: "docs/reference/sign-in.md#passkeys",
});

export const remove = operation({
  subject: "identity.passkey.remove",
  http: { ...own, method: "DELETE", path: "/api/v1/account/passkey/credentials/{id}", status: 204 },
  params: { id: z.string().min(1).max(64) },
  output: nothing,
  faults: ["not_found", "last_passkey", "reauth_required"],
  onceById: true,
  summary: "Unbinds a passkey; all other sessions end.",
  spec: "docs/reference/sign-in.md#passkeys",
});

const factor = z.enum(["passkey", "email", "sign_in"]);

export const reauthStatus = operation({
  subject: "identity.reauth.status",
  http: { ...own, method: "GET", path: "/api/v1/account/reauth" },
  output: z.strictObject({ needed: z.boolean(), until: Timestamp.optional(), factors: z.array(factor) }),
  summary: "Whether the caller needs a fresh proof, and the ways to give it, best first.",
  spec: "docs/reference/sign-in.md#proofs",
});

export const beginReauth = operation({
  subject: "identity.reauth.begin-passkey",
  http: { ...own, method: "POST", path: "/api/v1/account/reauth/passkey/begin" },
  output: z.strictObject({ publicKey: WebAuthn }),
  faults: ["no_passkey", "no_session", "passkey_unavailable"],
  onceById: true,
  summary: "Starts a proof by passkey.",
  spec: "docs/reference/sign-in.md#proofs",
});

export const finishReauth = operation({
  subject: "identity.reauth.finish-passkey",
  http: { ...own, method: "POST", path: "/api/v1/account/reauth/passkey/finish" },
  body: { assertion: WebAuthnAnswer },
  output: Reauthed,
  faults: ["passkey_login_invalid", "no_session", "passkey_unavailable"],
  onceById: true,
  summary: "Proves the session by passkey for five minutes.",
  spec: "docs/reference/sign-in.md#proofs",
});

export const startReauthEmail = operation({
  subject: "identity.reauth.start-email",
  http: { ...own, method: "POST", path: "/api/v1/account/reauth/email/start", status: 202 },
  output: z.strictObject({ sent: z.literal(true), expires_at: Timestamp }),
  faults: [
    "no_session",
    "staff_reauth",
    "no_step_up_factor",
    "otp_resend_cooldown",
    "otp_account_locked",
    "mail_rate_limited",
    "mail_undeliverable",
    "mail_unavailable",
  ],
  summary: "Mails a player a code that gives a fresh proof.",
  spec: "docs/reference/sign-in.md#proofs",
  deadlineMs: 30_000,
});

export const verifyReauthEmail = operation({
  subject: "identity.reauth.verify-email",
  http: { ...own, method: "POST", path: "/api/v1/account/reauth/email/verify" },
  body: { code: TypedCode },
  output: Reauthed,
  faults: [
    "invalid_code",
    "no_session",
    "staff_reauth",
    "no_step_up_factor",
    "otp_locked",
    "otp_account_locked",
    "rate_limited",
  ],
  onceById: true,
  summary: "Proves the session by the mailed code for five minutes.",
  spec: "docs/reference/sign-in.md#proofs",
});
