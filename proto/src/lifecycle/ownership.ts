// Who owns a server: claims, giving up, the allowlist, and what other services ask about owners
// (docs/reference/claims.md#claim, docs/reference/claims.md#retirement).
// Vocabulary: claim = take an unowned server; release = it has no owner any more; retire = give up or delete, carried
// out by the reaper; allowlist = players who joined and may wake it under the policy `allowlist`.

import { z } from "zod";
import { cursor, event, nothing, operation, page, request } from "../contract.ts";
import { Limits } from "../identity/quota.ts";
import { ActivityPage, activityPaging } from "../identity/setting.ts";
import { PlayerUuid, Timestamp } from "../text.ts";
import { ServerNameParam } from "./names.ts";
import { serverOwners, servers } from "./server.ts";
import { AutostartPolicy, Phase, RetireState } from "./server-info.ts";
import { MyServerView, myRows } from "./server-rows.ts";

const name = { name: ServerNameParam };
const accountId = z.string().min(1).max(64);
const count = z.number().int().min(0).max(2_147_483_647);
const internal = { face: "internal", tier: "service", callers: ["velocity"] } as const;
const external = { face: "external", tier: "app" } as const;

const Claimed = z.strictObject({ name: z.string(), claimed: z.literal(true) });

export const claimForPlayer = operation({
  subject: "lifecycle.ownership.claim-for-player",
  http: { method: "POST", path: "/api/v1/internal/servers/{name}/claim", ...internal },
  params: name,
  body: { mc_uuid: PlayerUuid },
  output: Claimed,
  faults: [
    "bad_name",
    "not_found",
    "not_linked",
    "quota_exceeded",
    "already_claimed",
    "server_retiring",
    "world_reclaiming",
  ],
  onceById: true,
  summary: "Gives an unowned server to the account that a player is linked to.",
  spec: "docs/reference/claims.md#claim",
});

export const claim = operation({
  subject: "lifecycle.ownership.claim",
  http: { method: "POST", path: "/api/v1/servers/{name}/claim", ...external },
  params: name,
  output: Claimed,
  faults: claimForPlayer.faults,
  onceById: true,
  summary: "Gives an unowned server to the caller; its wake allowlist is emptied.",
  spec: "docs/reference/claims.md#claim",
});

export const retire = operation({
  subject: "lifecycle.ownership.retire",
  http: { method: "PUT", path: "/api/v1/servers/{name}/retirement", ...external, status: 202 },
  params: name,
  body: {
    /** The server's name once more. */
    confirm: z.string().max(64),
    /** Staff only: the server goes too, not only its owner and world. */
    delete: z.boolean().optional(),
  },
  output: z.strictObject({ name: z.string(), retiring: RetireState }),
  faults: ["bad_name", "confirm_mismatch", "not_found", "system_server", "world_volume_orphaned"],
  idempotent: true,
  summary: "Asks for a server to be given up or deleted; it is stopped, and the reaper does the rest.",
  spec: "docs/reference/claims.md#retirement",
});

export const cancelRetirement = operation({
  subject: "lifecycle.ownership.cancel-retirement",
  http: { method: "DELETE", path: "/api/v1/servers/{name}/retirement", ...external, status: 204 },
  params: name,
  output: nothing,
  faults: ["bad_name", "not_found", "system_server", "world_reclaiming"],
  idempotent: true,
  summary: "Cancels a give-up or deletion before the reaper starts; the server stays stopped.",
  spec: "docs/reference/claims.md#retirement",
});

/** A player who joined a server (docs/reference/claims.md#allowlist). */
export const AllowlistEntry = z.strictObject({
  mc_uuid: z.uuid(),
  added_at: Timestamp,
  /** False once owner or staff took the right away. */
  can_wake: z.boolean(),
  /** The live account that the player is linked to; left out when there is none or accounts cannot be read. */
  username: z.string().optional(),
});
export type AllowlistEntry = z.output<typeof AllowlistEntry>;

export const listAllowlist = operation({
  subject: "lifecycle.allowlist.list",
  http: { method: "GET", path: "/api/v1/servers/{name}/allowlist", ...external, rights: ["players"] },
  params: name,
  output: z.strictObject({ server: z.string(), entries: z.array(AllowlistEntry) }),
  faults: ["bad_name", "not_found"],
  summary: "The players who joined a server, newest first; the newest 5000 when there are more.",
  spec: "docs/reference/claims.md#allowlist",
});

export const changeAllowlist = operation({
  subject: "lifecycle.allowlist.change",
  http: {
    method: "PUT",
    path: "/api/v1/servers/{name}/allowlist/{uuid}",
    ...external,
    status: 204,
    rights: ["players"],
  },
  params: { ...name, uuid: PlayerUuid },
  body: { can_wake: z.boolean() },
  output: nothing,
  faults: ["bad_name", "not_found"],
  idempotent: true,
  summary: "Revokes the right to wake a server from a player who joined it, or grants it again.",
  spec: "docs/reference/claims.md#allowlist",
});

/** docs/reference/wake.md#menu. */
export const MenuRow = z.strictObject({
  name: z.string(),
  phase: Phase,
  ready: z.boolean(),
  playersOnline: count,
  playersMax: count,
  claimable: z.boolean(),
});
export type MenuRow = z.output<typeof MenuRow>;

export const readMenu = operation({
  subject: "lifecycle.menu.read",
  http: { method: "GET", path: "/api/v1/internal/servers/{name}/menu", ...internal },
  params: name,
  output: MenuRow,
  faults: ["bad_name", "not_found"],
  summary: "One server as the lobby's menu shows it.",
  spec: "docs/reference/claims.md#claim, docs/reference/wake.md#menu",
});

/** What a player may do with a server that sleeps, the strongest first; one that is up may be joined by anybody. */
export const MenuVerdict = z.enum(["retiring", "start_failed", "owner", "wake", "owner_only", "allowlist"]);
export type MenuVerdict = z.output<typeof MenuVerdict>;

export const readMenuAccess = operation({
  subject: "lifecycle.menu.read-access",
  http: { method: "GET", path: "/api/v1/internal/player/menu-access/{mc_uuid}", ...internal },
  params: { mc_uuid: PlayerUuid },
  output: z.strictObject({ servers: z.record(z.string(), MenuVerdict) }),
  summary: "One verdict for each user server: what this player may do with it.",
  spec: "docs/reference/claims.md#claim, docs/reference/wake.md#menu",
});

export const listMine = operation({
  subject: "lifecycle.ownership.list-mine",
  http: {
    method: "GET",
    path: "/api/v1/me/servers",
    ...external,
    setup: true,
    collect: "servers",
    view: { of: serverOwners, beside: servers, as: "list", rows: myRows },
    rights: ["see"],
    serversBy: "owner",
  },
  query: cursor,
  output: page(MyServerView),
  summary: "Servers that the caller owns or could claim.",
  spec: "docs/reference/accounts.md#me, docs/reference/claims.md#own",
});

export const patchMine = operation({
  subject: "lifecycle.ownership.patch-mine",
  http: { method: "PATCH", path: "/api/v1/me/servers/{name}", ...external, rights: ["settings"] },
  params: name,
  body: {
    displayName: z.string().max(256).optional(),
    autostartPolicy: AutostartPolicy.optional(),
    idleStopSeconds: z.number().int().optional(),
  },
  output: z.strictObject({ name: z.string(), patched: z.array(z.string()) }),
  faults: ["bad_name", "not_found", "bad_display_name", "bad_idle_stop"],
  onceById: true,
  summary: "Changes display name, wake policy or idle stop of the caller's own server.",
  spec: "docs/reference/claims.md#settings",
});

export const readMyQuota = operation({
  subject: "lifecycle.ownership.read-my-quota",
  http: { method: "GET", path: "/api/v1/me/quota", ...external },
  output: z.strictObject({
    limits: Limits,
    used: z.strictObject({ servers: count, cpu_milli: count, memory_mb: count, storage_mb: count }),
    /** What `patchMine` accepts as idleStopSeconds. */
    idle_stop: z.strictObject({ min_seconds: count, max_seconds: count, may_be_off: z.boolean() }),
  }),
  summary: "What the caller may own and owns already, and the bounds of its servers' settings.",
  spec: "docs/reference/claims.md#quota",
});

export const listActivity = operation({
  subject: "lifecycle.ownership.list-activity",
  http: {
    method: "GET",
    path: "/api/v1/servers/{name}/activity",
    ...external,
    rights: ["see", "console.read"],
  },
  params: name,
  query: activityPaging,
  output: ActivityPage,
  faults: ["bad_name", "not_found"],
  summary: "What was done to a server since its owner has it, newest first.",
  spec: "docs/reference/audit.md#activity",
});

export const releaseAccount = request({
  subject: "lifecycle.ownership.release-account",
  input: { user_id: accountId },
  output: z.strictObject({ released: z.array(z.string()) }),
  callers: ["identity"],
  idempotent: true,
  summary:
    "Takes every server from an account that is deleted; the worlds stay, their allowlists are emptied.",
  spec: "docs/reference/claims.md#accounts, docs/reference/data.md#owners",
});

export const transferAccount = request({
  subject: "lifecycle.ownership.transfer-account",
  input: {
    /** Id of the account migration: a repeat gives the first answer. */
    transfer_id: z.string().min(1).max(64),
    from_user_id: accountId,
    to_user_id: accountId,
    /** Limits of the receiving account, checked in the transaction that moves the servers. */
    limits: Limits,
  },
  output: z.strictObject({ servers: z.array(z.string()) }),
  faults: ["migrate_quota_exceeded"],
  callers: ["identity"],
  idempotent: true,
  summary: "Moves all servers of one account to another in one transaction, or none.",
  spec: "docs/reference/server-transfer.md#saga",
});

export const countOwned = request({
  subject: "lifecycle.ownership.count",
  input: { user_ids: z.array(accountId).max(500) },
  output: z.strictObject({ counts: z.record(z.string(), z.number().int().min(0)) }),
  callers: ["identity"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "How many servers accounts own; an account without any may be missing in the answer.",
  spec: "docs/reference/accounts.md#users",
});

export const serverClaimed = event({
  subject: "lifecycle.server.claimed",
  data: z.object({ name: z.string(), user_id: z.string(), at: z.iso.datetime() }),
  key: (data) => data.name,
  sample: { name: "survival", user_id: "usr-1", at: "2026-01-01T00:00:00.000Z" },
  listeners: ["gateway-external", "storage"],
  summary: "An account took an unowned server.",
});

export const serverTransferred = event({
  subject: "lifecycle.server.transferred",
  data: z.object({
    name: z.string(),
    from_user_id: z.string(),
    to_user_id: z.string(),
    at: z.iso.datetime(),
  }),
  key: (data) => data.name,
  sample: {
    name: "survival",
    from_user_id: "usr-1",
    to_user_id: "usr-2",
    at: "2026-01-01T00:00:00.000Z",
  },
  listeners: ["gateway-external", "storage"],
  summary: "A server transfer moved a server to another account.",
});

export const retirementRequested = event({
  subject: "lifecycle.server.retirement-requested",
  data: z.object({ name: z.string(), delete: z.boolean(), at: z.iso.datetime() }),
  key: (data) => data.name,
  sample: { name: "survival", delete: false, at: "2026-01-01T00:00:00.000Z" },
  summary: "A server is to be given up or deleted by the next run of the reaper.",
});

export const retirementCancelled = event({
  subject: "lifecycle.server.retirement-cancelled",
  data: z.object({ name: z.string(), at: z.iso.datetime() }),
  key: (data) => data.name,
  sample: { name: "survival", at: "2026-01-01T00:00:00.000Z" },
  summary: "A give-up or deletion was cancelled.",
});
