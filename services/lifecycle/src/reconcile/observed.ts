// Everything that one pass knows, and what follows from it. Pure; observe.ts reads it.

import type { Pod, Service, StatefulSet } from "@svc/kube";
import type { MinecraftServerStatus } from "@svc/proto";
import { keptAwakeUntil } from "../cluster/kept-awake.ts";
import { annotation, gamePort, hasRcon, type Server, wantsToRun } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import { faultOfSpec } from "./check-spec.ts";
import type { ForwardingState } from "./forwarding.ts";

/** The RCON password: `fresh` is what the Secret will hold when it has to be made. */
export type SecretState =
  | { kind: "unread" }
  | { kind: "present"; password: string }
  | { kind: "missing"; fresh: string }
  | { kind: "unusable"; problem: string };

export type PlayerCount = { online: number; max: number };

export type Probe =
  | { kind: "none" }
  | { kind: "failed"; problem: string }
  /** No count: the password was accepted, but the answer to `list` could not be read. */
  | { kind: "reached"; count?: PlayerCount };

/** What the process remembers of a server between passes; losing it costs one probe and nothing else. */
export type PassMemory = {
  misses: number;
  /** Unix milliseconds of the last probe. */
  probedAt: number;
  /** Until when players are counted more often because a join was reported. */
  joinedUntil: number;
  /** uid of a pod that was deleted to be replaced: our copy may still show it as ready for a moment. */
  replacedPod?: string | undefined;
  /** Players when RCON was lost. */
  lostPlayers?: number | undefined;
};
export const emptyMemory: PassMemory = { misses: 0, probedAt: 0, joinedUntil: 0 };

export type NodeState = { kind: "fine" } | { kind: "unavailable"; problem: string };

export type Observed = {
  server: Server;
  status: MinecraftServerStatus;
  statefulSet: StatefulSet | undefined;
  service: Service | undefined;
  headless: Service | undefined;
  pod: Pod | undefined;
  node: NodeState;
  /** Kind of the lock on the world, if there is one; only read when nothing runs. */
  holder: string | undefined;
  secret: SecretState;
  forwarding: ForwardingState;
  probe: Probe;
  /** When the log of a server that does not answer spoke last, Unix milliseconds; undefined when that is not known. */
  lastLineAt?: number | undefined;
  memory: PassMemory;
  settings: LifecycleSettings;
};

export function replicasOf({ statefulSet }: Observed): number {
  return statefulSet?.spec.replicas ?? (statefulSet ? 1 : 0);
}

/** True while neither a replica is wanted nor one is left. */
export function isAtRest(observed: Observed): boolean {
  return replicasOf(observed) === 0 && (observed.statefulSet?.status?.replicas ?? 0) === 0;
}

/** The pod accepts connections. Its own condition counts first: the StatefulSet's count lags behind it. */
export function isPodReady({ pod, statefulSet, memory }: Observed): boolean {
  if (pod === undefined)
    return memory.replacedPod === undefined && (statefulSet?.status?.readyReplicas ?? 0) > 0;
  if (isPodTerminating(pod, memory)) return false;
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}

/** The pod was deleted, by somebody else or by us a moment ago. */
export function isPodTerminating({ metadata }: Pod, memory: PassMemory): boolean {
  return (
    metadata.deletionTimestamp !== undefined ||
    (metadata.uid !== undefined && metadata.uid === memory.replacedPod)
  );
}

/** The deadline of a start that passes is the reason of its failure. */
export type Deadline = "StartupTimeout" | "ReadinessTimeout";

export function deadlineMsOf({ server, settings }: Observed, deadline: Deadline): number {
  const { timeoutSeconds, readinessTimeoutSeconds } = server.spec.startup ?? {};
  const seconds = deadline === "StartupTimeout" ? timeoutSeconds : readinessTimeoutSeconds;
  return seconds ? seconds * 1_000 : settings.startup_timeout;
}

/** Address inside the cluster, as `<ip>`; undefined until the Service has one. */
export function clusterIpOf({ service }: Observed): string | undefined {
  const ip = service?.spec?.clusterIP;
  return ip && ip !== "None" ? ip : undefined;
}

export function gameAddressOf(observed: Observed): string | undefined {
  const ip = clusterIpOf(observed);
  return ip === undefined ? undefined : `${ip.includes(":") ? `[${ip}]` : ip}:${gamePort}`;
}

export function specFaultOf({ server, settings }: Observed): string | undefined {
  return faultOfSpec(server.spec, settings.default_storage);
}

/** Whether this pass must know who has locked the world. */
export function needsHolder(observed: Observed): boolean {
  return wantsToRun(observed.server) && isAtRest(observed);
}

/** Whether this pass must know the password: it builds the pod or will send commands to the server. */
export function needsSecret(observed: Observed): boolean {
  if (!hasRcon(observed.server) || specFaultOf(observed) !== undefined) return false;
  return wantsToRun(observed.server) || (replicasOf(observed) > 0 && isPodReady(observed));
}

/** Whether this pass must know the forwarding secret: it builds the pod. */
export function needsForwarding(observed: Observed): boolean {
  return wantsToRun(observed.server) && specFaultOf(observed) === undefined;
}

/** Whether this pass probes the server over RCON. */
export function needsProbe(observed: Observed, now: number): boolean {
  const { server, status, secret } = observed;
  if (!hasRcon(server) || secret.kind !== "present") return false;
  if (!isPodReady(observed) || clusterIpOf(observed) === undefined) return false;
  if (!wantsToRun(server)) return isNoticeOpen(observed);
  return status.phase !== "Running" || now >= nextProbeAt(observed);
}

/** A stop begins and players have not been warned yet. */
export function isNoticeOpen(observed: Observed): boolean {
  const { status } = observed;
  return replicasOf(observed) > 0 && status.phase === "Running" && status.stopNoticeAt === undefined;
}

/** When the players of a running server are counted next, in Unix milliseconds. */
export function nextProbeAt({ status, memory, settings, server }: Observed): number {
  const regular = memory.probedAt + waitAfterProbe(memory, settings);
  const turns: number[] = [];
  const seconds = server.spec.idle?.emptySecondsBeforeStop ?? 0;
  if (seconds > 0 && server.spec.idle?.autoStopEnabled) {
    // The idle clock starts exactly at the end of the arrival window and ends exactly at its deadline.
    if (status.emptySince !== undefined) {
      const keptUntil = keptAwakeUntil(server, settings.keep_awake_longest) ?? 0;
      turns.push(Math.max(Date.parse(status.emptySince) + seconds * 1_000, keptUntil));
    } else if (status.readySignalAt !== undefined) {
      turns.push(Date.parse(status.readySignalAt) + settings.arrival_window);
    }
  }
  return Math.min(regular, ...turns.filter((at) => at > memory.probedAt));
}

function waitAfterProbe(memory: PassMemory, settings: LifecycleSettings): number {
  if (memory.misses > 0) return settings.probe_retry;
  if (memory.probedAt < memory.joinedUntil) return settings.join_count_interval;
  return settings.count_interval;
}

/** Whether another start of a failed server, or a restart of a running one, was requested. */
export function isRequested(server: Server, request: "startRetry" | "restart"): boolean {
  return server.metadata.annotations?.[annotation[request]] !== undefined;
}
