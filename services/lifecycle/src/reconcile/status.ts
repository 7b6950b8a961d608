// The whole status of each phase, as a pass writes it (docs/reference/server-states.md#phases, docs/reference/server-states.md#starting).

import type { MinecraftServerStatus, Phase } from "@svc/proto";
import { type ConditionInput, type Reason, withConditions, withoutCondition } from "../cluster/condition.ts";
import { hasRcon } from "../cluster/resource.ts";
import { startDurationsAfter } from "./learn-start.ts";
import { gameAddressOf, type Observed, type PlayerCount } from "./observed.ts";
import { podStarted } from "./pod-started.ts";

export function iso(now: number): string {
  return new Date(now).toISOString();
}

type Why = { reason: Reason; message: string };

function both(why: Why): ConditionInput[] {
  return [
    { type: "Ready", status: "False", ...why },
    { type: "RconReached", status: "False", ...why },
  ];
}

/** What every phase shows of this pass. */
function base(observed: Observed, phase: Phase): MinecraftServerStatus {
  const { server, status, pod, statefulSet } = observed;
  const motd = server.spec.motd;
  const texts: Partial<Record<Phase, string | undefined>> = {
    Running: motd?.running,
    Stopped: motd?.stopped,
    Stopping: motd?.stopped,
    Starting: motd?.starting,
    Failed: motd?.failed,
  };
  const { liveMotd: _before, ...rest } = status;
  const liveMotd = texts[phase];
  const nodeName = pod?.spec?.nodeName ?? status.nodeName;
  return {
    ...rest,
    phase,
    ready: false,
    readyReplicas: statefulSet?.status?.readyReplicas ?? 0,
    ...(nodeName !== undefined && { nodeName }),
    ...(server.metadata.generation !== undefined && { observedGeneration: server.metadata.generation }),
    ...(liveMotd && { liveMotd }),
  };
}

function fallback({ server }: Observed) {
  return { mode: "fallback" as const, address: server.spec.fallbackServer ?? "" };
}

/** Starting, for a reason. The start time is set once and kept; `restart` sets a new one. */
export function starting(
  observed: Observed,
  now: number,
  about: Why & { restart?: { autoRestarts: number } },
): MinecraftServerStatus {
  const { restart, ...why } = about;
  const {
    players: _p,
    emptySince: _e,
    readySignalAt: _r,
    stopNoticeAt: _n,
    ...rest
  } = base(observed, "Starting");
  const kept = isFreshStart(observed) ? undefined : rest.startRequestedAt;
  const conditions = withoutCondition(withoutInvalidSpec(rest), "PlayersCounted");
  return {
    ...rest,
    endpoint: fallback(observed),
    startRequestedAt: restart || kept === undefined ? iso(now) : kept,
    ...(restart && { autoRestarts: restart.autoRestarts }),
    ...(restart && restart.autoRestarts > 0 && { lastAutoRestartAt: iso(now) }),
    conditions: withConditions(conditions, [...both(why), podStarted(observed)], iso(now)),
  };
}

// The start time is kept while a start is under way or has timed out; any other start, also after a corrected spec, sets a new one.
function isFreshStart({ status }: Observed): boolean {
  if (status.phase === "Starting") return false;
  return status.phase !== "Failed" || failureOf(status) === "InvalidSpec";
}

/** Why a server is Failed; undefined when it is not. */
export function failureOf(status: MinecraftServerStatus): string | undefined {
  if (status.phase !== "Failed") return undefined;
  return status.conditions?.find(({ type }) => type === "Ready")?.reason ?? "";
}

function withoutInvalidSpec({ conditions }: MinecraftServerStatus) {
  const isInvalid = conditions?.some(
    ({ type, reason }) => type === "Provisioned" && reason === "InvalidSpec",
  );
  return isInvalid ? withoutCondition(conditions, "Provisioned") : conditions;
}

/** Failed: Ready and Provisioned say why; the endpoint stays as it was (docs/reference/server-states.md#phases). */
export function failed(observed: Observed, now: number, why: Why): MinecraftServerStatus {
  const inputs: ConditionInput[] = [
    { type: "Ready", status: "False", ...why },
    { type: "Provisioned", status: "False", ...why },
  ];
  const status = base(observed, "Failed");
  const conditions = observed.pod
    ? withConditions(status.conditions, [podStarted(observed)], iso(now))
    : withoutCondition(status.conditions, "PodStarted");
  return { ...status, conditions: withConditions(conditions, inputs, iso(now)) };
}

/** Running, with the result of the last probe; without a count the last known one stays. */
export function running(
  observed: Observed,
  now: number,
  about: { count: PlayerCount | "unreadable" | "unread"; emptySince: string | undefined },
): MinecraftServerStatus {
  const {
    startRequestedAt: _a,
    emptySince: _e,
    stopNoticeAt: _n,
    autoRestarts: _r,
    ...rest
  } = base(observed, "Running");
  const { count, emptySince } = about;
  const wasRunning = observed.status.phase === "Running";
  const startDurations = startDurationsAfter(observed, now);
  const conditions = withoutCondition(rest.conditions, "PodStarted");
  return {
    ...rest,
    ready: true,
    endpoint: { mode: "direct", address: gameAddressOf(observed) ?? "" },
    readySignalAt: wasRunning && rest.readySignalAt !== undefined ? rest.readySignalAt : iso(now),
    ...(emptySince !== undefined && { emptySince }),
    ...(typeof count === "object" && { players: count }),
    ...(startDurations && { startDurations }),
    conditions: withConditions(conditions, runningConditions(observed, count), iso(now)),
  };
}

function runningConditions(
  observed: Observed,
  count: PlayerCount | "unreadable" | "unread",
): ConditionInput[] {
  const provisioned: ConditionInput = {
    type: "Provisioned",
    status: "True",
    reason: "Provisioned",
    message: "The server's objects are in place.",
  };
  if (!hasRcon(observed.server)) {
    const why: Why = { reason: "RconDisabled", message: "RCON is off; the pod's readiness is used instead." };
    return [
      { type: "Ready", status: "True", reason: "PodReady", message: "The pod accepts connections." },
      { type: "RconReached", status: "False", ...why },
      { type: "PlayersCounted", status: "False", ...why },
      provisioned,
    ];
  }
  const reached: ConditionInput[] = [
    { type: "RconReached", status: "True", reason: "Probed", message: "RCON accepted the password." },
    { type: "Ready", status: "True", reason: "RconReached", message: "Players may join." },
    provisioned,
  ];
  if (count === "unread") return reached;
  const counted: ConditionInput =
    count === "unreadable"
      ? {
          type: "PlayersCounted",
          status: "False",
          reason: "ListUnreadable",
          message: "The reply to `list` could not be read; the idle timer is paused.",
        }
      : { type: "PlayersCounted", status: "True", reason: "Counted", message: "The players were counted." };
  return [...reached, counted];
}

/** Stopping: the pod is being deleted or is terminating. */
export function stopping(observed: Observed, now: number): MinecraftServerStatus {
  const { emptySince: _e, readySignalAt: _r, stopNoticeAt: _n, ...rest } = base(observed, "Stopping");
  const why: Why = { reason: "Stopping", message: "The server is stopping." };
  return {
    ...rest,
    endpoint: fallback(observed),
    conditions: withConditions(withoutCondition(rest.conditions, "PodStarted"), both(why), iso(now)),
  };
}

/** Stopped: of the last run the status keeps only how long its start took. */
export function stopped(observed: Observed, now: number): MinecraftServerStatus {
  const kept = base(observed, "Stopped");
  const why: Why = { reason: "Stopped", message: "The server is stopped." };
  const counted = withoutCondition(withoutInvalidSpec(kept), "PlayersCounted");
  const conditions = withoutCondition(counted, "PodStarted");
  const { nodeName, observedGeneration, liveMotd, startDurations } = kept;
  return {
    phase: "Stopped",
    ready: false,
    readyReplicas: 0,
    ...(nodeName !== undefined && { nodeName }),
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(liveMotd && { liveMotd }),
    ...(startDurations && { startDurations }),
    endpoint: fallback(observed),
    conditions: withConditions(conditions, both(why), iso(now)),
  };
}

/** The phase stays; only Ready says what blocks the server. */
export function blocked(
  observed: Observed,
  now: number,
  about: Why & { hidesEndpoint: boolean },
): MinecraftServerStatus {
  const { hidesEndpoint, ...why } = about;
  const known = observed.status.phase;
  const status = base(observed, known === undefined || known === "Unknown" ? "Stopped" : known);
  return {
    ...status,
    ...(hidesEndpoint && { endpoint: { mode: "fallback" as const, address: "" } }),
    conditions: withConditions(status.conditions, [{ type: "Ready", status: "False", ...why }], iso(now)),
  };
}
