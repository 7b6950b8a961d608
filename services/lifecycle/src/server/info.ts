// The status projection of one server (docs/reference/server-states.md#view). Pure.

import type { Phase, ServerInfo } from "@svc/proto";
import { conditionOf } from "../cluster/condition.ts";
import { keptAwakeUntil } from "../cluster/kept-awake.ts";
import { idleLimitMs, label, type Server } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import { estimateOf } from "./start-estimate.ts";

export type InfoSettings = Pick<LifecycleSettings, "auto_restarts" | "stop_notice" | "keep_awake_longest">;

/** Everything that the object says; what the database adds is `toOwnership`. */
export function toServerInfo(server: Server, settings: InfoSettings): ServerInfo {
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
    ...set("keptAwakeUntil", keptAwakeOf(server, settings)),
    ...set("tags", spec.tags?.length ? spec.tags : undefined),
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
    ...set("startGaveUp", hasGivenUp(server, settings.auto_restarts)),
    ...set("reaperExempt", spec.reaperExempt),
    ...set("startRequestedAt", phase === "Starting" ? status.startRequestedAt : undefined),
    ...set("startEstimate", estimateOf(status.startDurations)),
    ...set("stopsAt", stopsAtOf(server, phase, settings)),
    ...set("conditions", conditionsOf(server, phase)),
  };
}

/** The reconciler takes it away when its time is over. */
function keptAwakeOf(server: Server, { keep_awake_longest }: InfoSettings): string | undefined {
  const until = idleLimitMs(server) > 0 ? keptAwakeUntil(server, keep_awake_longest) : undefined;
  return until === undefined ? undefined : new Date(until).toISOString();
}

/** When the notice before a stop is over; a server that is to run again cancels it. */
function stopsAtOf(
  { status, spec }: Server,
  phase: Phase,
  { stop_notice: noticeMs }: InfoSettings,
): string | undefined {
  const { stopNoticeAt } = status ?? {};
  if (phase !== "Running" || stopNoticeAt === undefined || spec.desiredState === "Running") return undefined;
  return new Date(Date.parse(stopNoticeAt) + noticeMs).toISOString();
}

/** Reasons of Ready that block a server whatever its phase. */
const blocks: ReadonlySet<string> = new Set(["MaintenanceInProgress", "NodeUnavailable"]);

// In the other phases they repeat the phase, and the proxy polls the rows of every server.
function conditionsOf({ status }: Server, phase: Phase): ServerInfo["conditions"] {
  const isTold = phase === "Starting" || phase === "Failed";
  if (!isTold && !blocks.has(conditionOf(status?.conditions, "Ready")?.reason ?? "")) return undefined;
  return status?.conditions?.map(({ observedGeneration: _generation, ...condition }) => condition);
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
