// The status projection of one server (docs/reference/server-states.md#view). Pure.

import type { FleetServer, PublicServerInfo, ServerInfo } from "@svc/proto";
import { conditionOf } from "../cluster/condition.ts";
import { idleLimitMs, label, type Server, systemRoleOf } from "../cluster/resource.ts";
import { isClaimable, type ServerRow } from "../database/server-row.ts";

/** Everything that staff and the proxy see. `retiring` comes from the row and is only for owner and staff. */
export function toServerInfo(server: Server, about: { autoRestarts: number; row?: ServerRow }): ServerInfo {
  const { metadata, spec, status = {} } = server;
  const phase = status.phase ?? "Unknown";
  const { limits } = spec.resources ?? {};
  const isUncounted =
    phase === "Running" && conditionOf(status.conditions, "PlayersCounted")?.status === "False";
  return {
    name: metadata.name,
    subdomain: spec.subdomain,
    phase,
    ready: phase === "Running" && status.ready === true,
    playersOnline: Math.max(0, status.players?.online ?? 0),
    playersMax: Math.max(0, status.players?.max ?? 0),
    idleStopSeconds: idleLimitMs(server) / 1_000,
    ...set("nodeName", spec.nodeName || status.nodeName),
    ...set("autostartPolicy", spec.autostartPolicy),
    desiredState: spec.desiredState ?? "Stopped",
    ...set("endpointMode", status.endpoint?.mode),
    ...set("endpointAddress", status.endpoint?.address),
    ...set("displayName", spec.displayName),
    ...set("motd", status.liveMotd),
    ...set("image", spec.image),
    ...set("javaMemory", spec.javaMemory),
    ...set("memory", limits?.["memory"]),
    ...set("storageSize", spec.storage?.size),
    ...set("cpu", limits?.["cpu"]),
    ...set("playerCountUnknown", isUncounted),
    ...set("legacyForwarding", metadata.labels?.[label.forwarding] === "legacy"),
    ...set("forwardingKey", status.forwardingKey),
    ...set("autoRestarts", status.autoRestarts),
    ...set("startGaveUp", hasGivenUp(server, about.autoRestarts)),
    ...set("reaperExempt", spec.reaperExempt),
    ...set("retiring", about.row?.retiring),
  };
}

/** Includes an optional field only when it is set or true. */
function set<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value ? ({ [key]: value } as { [P in K]: V }) : {};
}

/** A Failed server that will not restart automatically (docs/reference/server-states.md#starting). */
export function hasGivenUp({ status }: Server, autoRestarts: number): boolean {
  if (status?.phase !== "Failed") return false;
  const reason = conditionOf(status.conditions, "Ready")?.reason;
  const isTimeout = reason === "StartupTimeout" || reason === "ReadinessTimeout";
  return !isTimeout || (status.autoRestarts ?? 0) >= autoRestarts || status.startRequestedAt === undefined;
}

export function toPublicInfo(info: ServerInfo): PublicServerInfo {
  const { name, subdomain, displayName, phase, ready, playersOnline, playersMax } = info;
  return {
    name,
    subdomain,
    phase,
    ready,
    playersOnline,
    playersMax,
    ...(displayName !== undefined && { displayName }),
  };
}

/** The owner's display name and linked players, the first linked first. */
export type OwnerFacts = { name: string; players: readonly string[] };

/** One row of the fleet. `owners` is undefined when they could not be looked up. */
export function toFleetServer(
  server: Server,
  about: {
    autoRestarts: number;
    row: ServerRow | undefined;
    callerId: string;
    owners: Record<string, OwnerFacts> | undefined;
    /** Player names by UUID. */
    playerNames: Record<string, string>;
  },
): FleetServer {
  const { row, callerId, owners, playerNames, autoRestarts } = about;
  const ownerId = row?.ownerId;
  const isSystem = systemRoleOf(server) !== "";
  const owner = ownerId === undefined ? undefined : owners?.[ownerId];
  const [ownerPlayer] = (owner?.players ?? []).flatMap((uuid) => playerNames[uuid] ?? []);
  // A pending retirement prevents claims, as a deletion does (docs/reference/claims.md#retirement).
  const claimable = !isSystem && isClaimable(row);
  return {
    ...toServerInfo(server, { autoRestarts, ...(row && { row }) }),
    owned: ownerId !== undefined && ownerId === callerId,
    claimable,
    ...(owner !== undefined && { owner: owner.name }),
    ...(ownerPlayer !== undefined && { ownerPlayer }),
    ...(ownerId !== undefined && owner === undefined && { ownerUnknown: true }),
    ...(isSystem && { system: true }),
  };
}
