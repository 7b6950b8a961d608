// The status projection of one server (docs/reference/server-states.md#view). Pure.

import type { ServerInfo } from "@svc/proto";
import { conditionOf } from "../cluster/condition.ts";
import { idleLimitMs, label, type Server } from "../cluster/resource.ts";

/** Everything that the object says; what the database adds is `toOwnership`. */
export function toServerInfo(server: Server, about: { autoRestarts: number }): ServerInfo {
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
