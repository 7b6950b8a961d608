// Platform settings and the audit log (docs/reference/audit.md#search, docs/reference/sign-in.md#doors).

import { z } from "zod";
import { AccessChange } from "../access/change.ts";
import { operation, request } from "../contract.ts";
import { Timestamp, wholeNumber } from "../text.ts";

/** Settings that the owner changes at run time. */
export const PlatformSettings = z.strictObject({
  /** Whether local passwords and their sessions are accepted. */
  local_auth_enabled: z.boolean(),
});
export type PlatformSettings = z.output<typeof PlatformSettings>;

const path = "/api/v1/settings";

export const readSettings = operation({
  subject: "identity.setting.read",
  http: { method: "GET", path, face: "external", tier: "owner" },
  output: PlatformSettings,
  summary: "The platform settings.",
  spec: "docs/reference/audit.md#search",
});

export const writeSettings = operation({
  subject: "identity.setting.write",
  http: { method: "PUT", path, face: "external", tier: "owner" },
  body: PlatformSettings.partial().shape,
  output: PlatformSettings,
  idempotent: true,
  summary: "Changes the given settings and returns all of them.",
  spec: "docs/reference/audit.md#search",
});

/** One row of the audit log (docs/reference/audit.md#entries). */
export const AuditRow = z.strictObject({
  id: z.number().int(),
  at: Timestamp,
  actor: z.string(),
  actor_user_id: z.string().optional(),
  source: z.string(),
  action: z.string(),
  server_name: z.string().optional(),
  request_id: z.string().optional(),
  client_ip: z.string().optional(),
  user_agent: z.string().optional(),
  payload: z.record(z.string(), z.unknown()),
});
export type AuditRow = z.output<typeof AuditRow>;

/** An entry as the owner of its server sees it: nobody's address, and of other people's doings no free text. */
export const ActivityEntry = z.strictObject({
  id: z.number().int(),
  at: Timestamp,
  action: z.string(),
  /** `player`: somebody in the game, through the proxy; `svc`: by itself, or from the host. */
  by: z.enum(["you", "account", "staff", "player", "svc"]),
  /** User name of an `account` that still exists. */
  name: z.string().optional(),
  payload: z.record(z.string(), z.unknown()),
  /** Of an entry of shared access, for those who may see who has which (docs/reference/audit.md#access). */
  access: AccessChange.optional(),
});
export type ActivityEntry = z.output<typeof ActivityEntry>;

/** A page of a server's activity. */
export const ActivityPage = z.strictObject({
  entries: z.array(ActivityEntry),
  /** Give it as `cursor` for the entries before these; absent at the end. */
  next: z.string().optional(),
});
export type ActivityPage = z.output<typeof ActivityPage>;
export const activityPaging = {
  cursor: z.string().max(64).optional(),
  limit: wholeNumber(1, 100).default(50),
};

export const listActivity = request({
  subject: "identity.audit.list-activity",
  input: {
    server: z.string().min(1).max(64),
    /** Account of the reader. */
    viewer: z.string().max(64),
    /** Earlier entries are somebody else's. */
    since: Timestamp.optional(),
    ...activityPaging,
  },
  output: ActivityPage,
  faults: ["bad_request"],
  callers: ["lifecycle"],
  idempotent: true,
  summary: "A server's audit entries as its owner may see them, newest first.",
  spec: "docs/reference/audit.md#activity",
});

const text = z.string().min(1).max(254).optional();

export const searchAudit = operation({
  subject: "identity.audit.search",
  http: { method: "GET", path: "/api/v1/audit", face: "external", tier: "owner" },
  query: {
    server: text,
    /** Name of the actor, or the id of their account. */
    actor: text,
    /** An action, or the beginning of one with a `*` at its end: `auth.*`. */
    action: text,
    since: Timestamp.optional(),
    until: Timestamp.optional(),
    cursor: z.string().max(64).optional(),
    limit: wholeNumber(1, 100).default(50),
  },
  output: z.strictObject({
    entries: z.array(AuditRow),
    /** Give it as `cursor` for the entries before these; absent at the end. */
    next: z.string().optional(),
  }),
  summary: "The audit log, newest first.",
  spec: "docs/reference/audit.md#search",
});
