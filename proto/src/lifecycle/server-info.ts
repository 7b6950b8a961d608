// What people and the proxy see of one server (docs/reference/server-states.md#phases, docs/reference/claims.md#retirement).
// Vocabulary: phase = where a server is; desired state = where it should be; ready = players may join now.

import { z } from "zod";
import { Timestamp } from "../text.ts";
import { ServerTag } from "./server-tag.ts";

export const Phase = z.enum(["Unknown", "Stopped", "Starting", "Running", "Stopping", "Failed"]);
export type Phase = z.output<typeof Phase>;

export const DesiredState = z.enum(["Running", "Stopped"]);
export type DesiredState = z.output<typeof DesiredState>;

export const AutostartPolicy = z.enum(["ownerOnly", "public", "allowlist"]);
export type AutostartPolicy = z.output<typeof AutostartPolicy>;

/** A requested give-up or deletion (docs/reference/claims.md#retirement). */
export const RetireState = z.strictObject({ requested_at: Timestamp, delete: z.boolean() });
export type RetireState = z.output<typeof RetireState>;

const count = z.number().int().min(0).max(2_147_483_647);

/** Seconds that half of a server's starts, and 19 of 20, took at most (docs/reference/server-states.md#estimate). */
export const StartEstimate = z.strictObject({ p50: count, p95: count });
export type StartEstimate = z.output<typeof StartEstimate>;

/** A condition as in Kubernetes; types and reasons in docs/reference/server-states.md#conditions. */
export const ServerCondition = z.strictObject({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: Timestamp,
});
export type ServerCondition = z.output<typeof ServerCondition>;

/** Status projection of one server (docs/reference/server-states.md#view). Optional fields are left out, never null. */
export const ServerInfo = z.strictObject({
  name: z.string(),
  subdomain: z.string(),
  phase: Phase,
  ready: z.boolean(),
  playersOnline: count,
  playersMax: count,
  idleStopSeconds: count,
  /** Until when it is kept from its idle stop (docs/reference/server-states.md#keep-awake). */
  keptAwakeUntil: Timestamp.optional(),
  /** Absent when it has none. */
  tags: z.array(ServerTag).optional(),
  nodeName: z.string().optional(),
  autostartPolicy: AutostartPolicy.optional(),
  desiredState: DesiredState.optional(),
  endpointMode: z.enum(["direct", "fallback"]).optional(),
  endpointAddress: z.string().optional(),
  displayName: z.string().optional(),
  /** Text of the server list in this phase, when owner or staff set one (`spec.motd`). */
  motd: z.string().optional(),
  image: z.string().optional(),
  javaMemory: z.string().optional(),
  memory: z.string().optional(),
  storageSize: z.string().optional(),
  cpu: z.string().optional(),
  playerCountUnknown: z.boolean().optional(),
  legacyForwarding: z.boolean().optional(),
  /** Which forwarding secret the server's run was given (forwarding.ts); absent: it takes players from anywhere. */
  forwardingKey: z.string().max(64).optional(),
  autoRestarts: count.optional(),
  startGaveUp: z.boolean().optional(),
  reaperExempt: z.boolean().optional(),
  retiring: RetireState.optional(),
  /** When the start under way began; its estimate counts from here. */
  startRequestedAt: Timestamp.optional(),
  /** Absent until the server has started once. */
  startEstimate: StartEstimate.optional(),
  /** When the time is up that players were given before a stop. */
  stopsAt: Timestamp.optional(),
  /** While a server starts, has failed or is blocked; in other phases they say what the phase says. */
  conditions: z.array(ServerCondition).optional(),
});
export type ServerInfo = z.output<typeof ServerInfo>;

/** What callers who neither own the server nor are staff may see (docs/reference/wake.md#checks). */
export const PublicServerInfo = ServerInfo.pick({
  name: true,
  subdomain: true,
  displayName: true,
  phase: true,
  ready: true,
  playersOnline: true,
  playersMax: true,
});
export type PublicServerInfo = z.output<typeof PublicServerInfo>;

/** One row of the admin fleet (docs/reference/claims.md#own). */
export const FleetServer = ServerInfo.extend({
  owned: z.boolean(),
  claimable: z.boolean(),
  owner: z.string().optional(),
  /** Player name of the owner, once known. */
  ownerPlayer: z.string().optional(),
  ownerUnknown: z.boolean().optional(),
  system: z.boolean().optional(),
});
export type FleetServer = z.output<typeof FleetServer>;
