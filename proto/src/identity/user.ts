// Users as the owner of the installation sees them (docs/reference/accounts.md#users).
// Vocabulary: user = an account of the installation; disabled = may not sign in; deleted = disabled for good, its
// servers released; the owner account itself is changed only from the host console.

import { z } from "zod";
import { operation } from "../contract.ts";
import { Role } from "../role.ts";
import { EmailAddress, PlayerUuid, paging, Sha256Hex, Timestamp } from "../text.ts";
import { SessionView } from "./account.ts";
import { LinkedAccount } from "./link.ts";

export const UserView = z.strictObject({
  id: z.string(),
  username: z.string(),
  email: z.string().optional(),
  role: Role,
  disabled: z.boolean(),
  email_verified: z.boolean(),
  /** 0 also while lifecycle is unreachable. */
  server_count: z.number().int().min(0),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type UserView = z.output<typeof UserView>;

export const UserDetail = UserView.extend({
  deleted_at: Timestamp.optional(),
  linked_accounts: z.array(LinkedAccount).optional(),
  /** Until when mailed codes do not sign this user in (docs/reference/sign-in.md#codes). */
  code_locked_until: Timestamp.optional(),
});
export type UserDetail = z.output<typeof UserDetail>;

const id = { id: z.string().min(1).max(64) };
const grantable = z.enum(["admin", "user"]);
const ok = z.strictObject({ ok: z.literal(true) });

/** 3 to 64 letters, digits and `._-`, beginning with a letter or digit. */
const Username = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{2,63}$/, "must be 3 to 64 letters, digits, dots, dashes or underscores");

const at = (path: string) => ({ path, face: "external", tier: "owner" }) as const;

export const list = operation({
  subject: "identity.user.list",
  http: { method: "GET", ...at("/api/v1/users") },
  query: {
    /** Part of the name, the address or a linked player's name, or the whole UUID of a linked player. */
    query: z.string().max(254).optional(),
    role: grantable.optional(),
    disabled: z.enum(["true", "false"]).optional(),
    sort: z.enum(["created_at", "username"]).optional(),
    /** Default: the newest first, names from A to Z. */
    order: z.enum(["asc", "desc"]).optional(),
    ...paging,
  },
  output: z.strictObject({ users: z.array(UserView), total: z.number().int() }),
  summary: "Users that are not deleted, newest first unless sorted otherwise.",
  spec: "docs/reference/accounts.md#users",
});

export const create = operation({
  subject: "identity.user.create",
  http: { method: "POST", status: 201, ...at("/api/v1/users") },
  body: { username: Username, role: grantable, email: EmailAddress.optional() },
  output: UserView,
  faults: ["username_taken"],
  onceById: true,
  summary: "Creates a user with an unverified address.",
  spec: "docs/reference/accounts.md#users",
});

export const read = operation({
  subject: "identity.user.read",
  http: { method: "GET", ...at("/api/v1/users/{id}") },
  params: id,
  output: UserDetail,
  faults: ["not_found"],
  summary: "One user, also a deleted one.",
  spec: "docs/reference/accounts.md#users",
});

export const patch = operation({
  subject: "identity.user.patch",
  http: { method: "PATCH", ...at("/api/v1/users/{id}") },
  params: id,
  body: { username: Username.optional(), email: EmailAddress.optional(), role: grantable.optional() },
  output: UserView,
  faults: ["not_found", "self_protected", "owner_protected", "reauth_required", "username_taken"],
  onceById: true,
  summary: "Changes a user; a new address is unverified.",
  spec: "docs/reference/accounts.md#users",
});

export const remove = operation({
  subject: "identity.user.remove",
  http: { method: "DELETE", ...at("/api/v1/users/{id}") },
  params: id,
  output: z.strictObject({ deleted: z.literal(true) }),
  faults: ["not_found", "self_protected", "owner_protected"],
  onceById: true,
  summary: "Deletes a user for good: sessions end, servers are released, worlds stay.",
  spec: "docs/reference/accounts.md#users",
});

export const disable = operation({
  subject: "identity.user.disable",
  http: { method: "POST", ...at("/api/v1/users/{id}/disable") },
  params: id,
  body: { disabled: z.boolean() },
  output: z.strictObject({ id: z.string(), disabled: z.boolean() }),
  faults: ["not_found", "self_protected", "owner_protected"],
  onceById: true,
  summary: "Disables a user's sign-in, or enables it again.",
  spec: "docs/reference/accounts.md#users",
});

export const listSessions = operation({
  subject: "identity.user.list-sessions",
  http: { method: "GET", ...at("/api/v1/users/{id}/sessions") },
  params: id,
  output: z.strictObject({ sessions: z.array(SessionView) }),
  faults: ["not_found"],
  summary: "A user's live sessions, most recently seen first.",
  spec: "docs/reference/accounts.md#users",
});

export const revokeSessions = operation({
  subject: "identity.user.revoke-sessions",
  http: { method: "DELETE", ...at("/api/v1/users/{id}/sessions") },
  params: id,
  output: ok,
  faults: ["not_found"],
  onceById: true,
  summary: "Ends all sessions of a user.",
  spec: "docs/reference/accounts.md#users",
});

export const revokeSession = operation({
  subject: "identity.user.revoke-session",
  http: { method: "DELETE", ...at("/api/v1/users/{id}/sessions/{hash}") },
  params: { ...id, hash: Sha256Hex.or(z.string().max(128)) },
  output: ok,
  faults: ["session_not_found"],
  onceById: true,
  summary: "Ends one session of a user.",
  spec: "docs/reference/accounts.md#users",
});

export const removePasskeys = operation({
  subject: "identity.user.remove-passkeys",
  http: { method: "DELETE", ...at("/api/v1/users/{id}/passkeys") },
  params: id,
  output: ok,
  faults: ["not_found", "reauth_required"],
  onceById: true,
  summary: "Unbinds all passkeys of a user who lost them.",
  spec: "docs/reference/accounts.md#users",
});

export const addLink = operation({
  subject: "identity.user.add-link",
  http: { method: "POST", ...at("/api/v1/users/{id}/links") },
  params: id,
  body: { mc_uuid: PlayerUuid, auth_source: z.enum(["mojang", "thirdparty"]).optional() },
  output: z.strictObject({
    ok: z.literal(true),
    mc_uuid: z.string(),
    auth_source: z.enum(["mojang", "thirdparty"]),
  }),
  faults: ["not_found", "already_linked"],
  onceById: true,
  summary: "Links a player to a user; the same pair again changes nothing.",
  spec: "docs/reference/accounts.md#users, docs/reference/links.md#bind-code",
});

export const removeLink = operation({
  subject: "identity.user.remove-link",
  http: { method: "DELETE", ...at("/api/v1/users/{id}/links/{mc_uuid}") },
  params: { ...id, mc_uuid: PlayerUuid },
  output: z.strictObject({ ok: z.literal(true), mc_uuid: z.string() }),
  faults: ["not_found"],
  onceById: true,
  summary: "Unlinks a player from a user.",
  spec: "docs/reference/accounts.md#users",
});
