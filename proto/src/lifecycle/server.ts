// Operations on servers (docs/reference/server-states.md#view, docs/reference/server-resource.md#create).

import { z } from "zod";
import { countedPage, cursor, event, nothing, operation, page, request } from "../contract.ts";
import { optionalPaging, PlayerUuid, Timestamp } from "../text.ts";
import { view } from "../view.ts";
import { ServerNameParam } from "./names.ts";
import { GameName } from "./player.ts";
import { AutostartPolicy, FleetServer, Phase, PublicServerInfo, ServerInfo } from "./server-info.ts";
import { FleetFilter, FleetSort, fleetRows, ServerOwnership, statusRows } from "./server-rows.ts";

const name = { name: ServerNameParam };

/** Every server as the proxy sees it, keyed by name. */
export const servers = view({
  name: "servers",
  owner: "lifecycle",
  value: ServerInfo,
  readers: ["gateway-internal", "gateway-external"],
  summary: "Every server's status projection, by name.",
});

/**
 * Who owns which server. It decides what people see, so it is marked often: with the second that a gateway keeps a list,
 * a right that was taken away is gone within the five seconds of a session (docs/reference/http.md#views).
 */
export const serverOwners = view({
  name: "server-owners",
  owner: "lifecycle",
  value: ServerOwnership,
  readers: ["gateway-external"],
  // Names of accounts.
  copiesFrom: ["identity"],
  markEveryMs: 1_500,
  staleAfterMs: 4_000,
  summary: "Owner, claimability and retirement of every server, by name.",
});

export const ready = operation({
  subject: "lifecycle.platform.ready",
  http: { method: "GET", path: "/readyz", face: "internal", tier: "public" },
  output: z.strictObject({ status: z.literal("ready") }),
  faults: ["not_ready"],
  deadlineMs: 3_000,
  summary: "Whether the database and the cluster are reachable.",
  spec: "docs/reference/http.md#health",
});

export const list = operation({
  subject: "lifecycle.server.list",
  http: {
    method: "GET",
    path: "/api/v1/servers",
    face: "internal",
    tier: "service",
    callers: ["velocity"],
    collect: "servers",
    view: { of: servers, as: "list" },
  },
  query: cursor,
  output: page(ServerInfo),
  summary: "All servers with their lifecycle view; the proxy polls it.",
  spec: "docs/reference/wake.md#checks",
});

export const listImages = request({
  subject: "lifecycle.server.list-images",
  input: cursor,
  output: page(
    z.strictObject({
      server: z.string(),
      /** Of its resource, of its stored row, and of pods that run or are about to; references as they stand there. */
      images: z.array(z.string()),
    }),
  ),
  callers: ["builds"],
  idempotent: true,
  summary: "The images that servers use or would start with; an image named here is never deleted.",
  spec: "docs/reference/registry.md#prune",
});

export const readStatus = operation({
  subject: "lifecycle.server.read-status",
  http: {
    method: "GET",
    path: "/api/v1/internal/servers/{name}/status",
    face: "internal",
    tier: "service",
    callers: ["velocity"],
    view: { of: servers, as: "item", param: "name" },
  },
  params: name,
  output: ServerInfo,
  faults: ["bad_name", "not_found"],
  summary: "Status of one server for the proxy; ready only when the RCON probe passed.",
  spec: "docs/reference/wake.md#checks",
});

/** 202 of a wake by a player, also when the server is awake already. */
export const WakeAccepted = z.strictObject({
  name: z.string(),
  desiredState: z.literal("Running"),
  phase: Phase,
  ready: z.boolean(),
});

export const wakeForPlayer = operation({
  subject: "lifecycle.server.wake-for-player",
  http: {
    method: "POST",
    path: "/api/v1/internal/servers/{name}/wake",
    face: "internal",
    tier: "service",
    callers: ["velocity"],
    status: 202,
  },
  params: name,
  body: { mc_uuid: PlayerUuid },
  output: WakeAccepted,
  faults: [
    "bad_name",
    "not_found",
    "maintenance_in_progress",
    "start_failed",
    "server_retiring",
    "world_reclaiming",
    "maintenance_window",
    "cooldown",
    "at_capacity",
  ],
  onceById: true,
  summary: "Wakes a sleeping server for a joining player: policy, then cooldown, then capacity.",
  spec: "docs/reference/wake.md#checks",
});

export const reportReady = operation({
  subject: "lifecycle.server.report-ready",
  http: {
    method: "POST",
    path: "/api/v1/internal/servers/{name}/ready",
    face: "internal",
    tier: "service",
    callers: ["velocity"],
    status: 204,
  },
  params: name,
  output: nothing,
  faults: ["bad_name", "not_found"],
  summary: "A backend reports that it accepts players; advisory, readiness is decided by RCON.",
  spec: "docs/reference/wake.md#join",
});

export const reportJoin = operation({
  subject: "lifecycle.server.report-join",
  http: {
    method: "POST",
    path: "/api/v1/internal/servers/{name}/join-event",
    face: "internal",
    tier: "service",
    callers: ["velocity"],
    status: 204,
  },
  params: name,
  body: { mc_uuid: PlayerUuid, player_name: GameName.optional() },
  output: nothing,
  faults: ["bad_name", "not_found"],
  onceById: true,
  summary: "A player joined: refreshes activity and adds the player to the allowlist.",
  spec: "docs/reference/wake.md#join",
});

export const Resources = z.strictObject({
  cpu: z.string().max(32).optional(),
  cpuRequest: z.string().max(32).optional(),
  memory: z.string().max(32).optional(),
  memoryRequest: z.string().max(32).optional(),
});
export type Resources = z.output<typeof Resources>;

export const create = operation({
  subject: "lifecycle.server.create",
  http: { method: "POST", path: "/api/v1/servers", face: "external", tier: "admin", status: 201 },
  body: {
    name: z.string().max(64),
    subdomain: z.string().max(64),
    /** Settings of this template, for those that the request does not name. */
    template: z.string().min(1).max(64).optional(),
    nodeName: z.string().max(253).optional(),
    displayName: z.string().max(256).optional(),
    image: z.string().max(512).optional(),
    memory: z.string().max(32).optional(),
    storage: z.string().max(32).optional(),
    autostartPolicy: AutostartPolicy.optional(),
    resources: Resources.optional(),
    /** Seconds the empty server may idle; default 600, 0 switches idle stop off. */
    idleStopSeconds: z.number().int().optional(),
    /** Id of the account that owns it from the start; nobody does when absent. */
    owner: z.string().min(1).max(64).optional(),
    /** Whether players may claim it while it has no owner; default true. `svc server create` says false. */
    claimable: z.boolean().optional(),
  },
  output: z.strictObject({
    name: z.string(),
    subdomain: z.string(),
    desiredState: z.literal("Stopped"),
  }),
  faults: [
    "template_not_found",
    "quota_exceeded",
    "bad_node",
    "bad_name",
    "bad_subdomain",
    "bad_display_name",
    "bad_idle_stop",
    "image_not_whitelisted",
    "image_not_in_registry",
    "image_without_provenance",
    "name_taken",
    "subdomain_taken",
    "world_volume_exists",
    "registry_unavailable",
  ],
  onceById: true,
  summary: "Creates a stopped server.",
  spec: "docs/reference/server-resource.md#create",
});

export const patch = operation({
  subject: "lifecycle.server.patch",
  http: { method: "PATCH", path: "/api/v1/servers/{name}", face: "external", tier: "admin" },
  params: name,
  body: {
    displayName: z.string().max(256).optional(),
    autostartPolicy: AutostartPolicy.optional(),
    image: z.string().max(512).optional(),
    confirmImageChange: z.boolean().optional(),
    memory: z.string().max(32).optional(),
    storage: z.string().max(32).optional(),
    resources: Resources.optional(),
    idleStopSeconds: z.number().int().optional(),
  },
  output: z.strictObject({ name: z.string(), patched: z.array(z.string()) }),
  faults: [
    "bad_name",
    "bad_display_name",
    "storage_immutable",
    "bad_idle_stop",
    "image_not_whitelisted",
    "image_not_in_registry",
    "image_without_provenance",
    "image_change_unconfirmed",
    "not_found",
    "registry_unavailable",
  ],
  onceById: true,
  summary: "Changes the given settings of a server.",
  spec: "docs/reference/server-resource.md#create",
});

export const fleet = operation({
  subject: "lifecycle.fleet.list",
  http: {
    method: "GET",
    path: "/api/v1/fleet",
    face: "external",
    tier: "admin",
    collect: "servers",
    view: { of: servers, beside: serverOwners, needsBeside: true, as: "list", rows: fleetRows },
  },
  query: {
    ...cursor,
    ...optionalPaging,
    /** Words that are all in the name, the address, the display name, the owner or a tag. */
    query: z.string().max(100).optional(),
    filter: FleetFilter.optional(),
    /** Servers of this node. */
    node: z.string().max(253).optional(),
    /** Servers with this tag, in lower case. */
    tag: z.string().max(64).optional(),
    sort: FleetSort.optional(),
    order: z.enum(["asc", "desc"]).optional(),
  },
  output: countedPage(FleetServer),
  summary: "Every server with its owner, for operators; with parameters, one page of those that match.",
  spec: "docs/reference/claims.md#own, docs/reference/http.md#pages",
});

export const viewStatus = operation({
  subject: "lifecycle.server.view-status",
  http: {
    method: "GET",
    path: "/api/v1/servers/{name}/status",
    face: "external",
    tier: "app",
    view: {
      ...{ of: servers, beside: serverOwners, needsBeside: true, rows: statusRows },
      ...{ as: "item", param: "name" },
    },
    rights: ["see"],
  },
  params: name,
  output: z.union([ServerInfo, PublicServerInfo]),
  faults: ["bad_name", "not_found"],
  summary: "Status of one server; trimmed for those who neither own it nor are staff.",
  spec: "docs/reference/server-states.md#view",
});

const power = { method: "POST", face: "external", tier: "app", status: 202, rights: ["power"] } as const;

export const wake = operation({
  subject: "lifecycle.server.wake",
  http: { ...power, path: "/api/v1/servers/{name}/wake" },
  params: name,
  query: {
    /** `true`: staff wake it although a maintenance window lasts. */
    insist: z.enum(["true", "false"]).optional(),
  },
  output: z.strictObject({ name: z.string(), desiredState: z.literal("Running") }),
  faults: [
    "bad_name",
    "not_found",
    "maintenance_in_progress",
    "server_retiring",
    "world_reclaiming",
    "maintenance_window",
    "cooldown",
    "at_capacity",
  ],
  onceById: true,
  summary: "Wakes a server; on a Failed one it retries with a fresh restart budget.",
  spec: "docs/reference/wake.md#checks, docs/reference/wake.md#policy",
});

export const stop = operation({
  subject: "lifecycle.server.stop",
  http: { ...power, path: "/api/v1/servers/{name}/stop" },
  params: name,
  output: z.strictObject({ name: z.string(), desiredState: z.literal("Stopped") }),
  faults: ["bad_name", "not_found"],
  onceById: true,
  summary: "Stops a server with the notice of docs/reference/server-states.md#phases.",
  spec: "docs/reference/server-states.md#stop",
});

export const restart = operation({
  subject: "lifecycle.server.restart",
  http: { ...power, path: "/api/v1/servers/{name}/restart" },
  params: name,
  output: z.strictObject({
    name: z.string(),
    /** When it is saved and goes down. */
    restart_at: Timestamp,
  }),
  faults: ["bad_name", "not_found", "not_running"],
  onceById: true,
  summary: "Restarts a running server; players who are on are told before.",
  spec: "docs/reference/server-states.md#restart",
});

export const serverCreated = event({
  subject: "lifecycle.server.created",
  data: z.object({ name: z.string(), subdomain: z.string(), at: z.iso.datetime() }),
  key: (data) => data.name,
  sample: { name: "survival", subdomain: "survival", at: "2026-01-01T00:00:00.000Z" },
  summary: "A server was created.",
});

export const serverPhaseChanged = event({
  subject: "lifecycle.server.phase-changed",
  data: z.object({
    name: z.string(),
    from: Phase,
    to: Phase,
    reason: z.string(),
    at: z.iso.datetime(),
  }),
  key: (data) => data.name,
  sample: {
    name: "survival",
    from: "Starting",
    to: "Running",
    reason: "RconReached",
    at: "2026-01-01T00:00:00.000Z",
  },
  summary: "A server moved from one phase to another.",
});
