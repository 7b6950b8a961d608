// The rules of one pass, in the order of behaviour.md b.3; the first that answers makes the plan.

import type { MinecraftServerStatus } from "@svc/proto";
import type { Reason } from "./condition.ts";
import { judgeIdle } from "./idle.ts";
import { headlessServiceOf, isServiceStale, rconSecretOf, serviceOf } from "./objects.ts";
import {
  clusterIpOf,
  hasStartRetry,
  isAtRest,
  isNoticeOpen,
  isPodReady,
  type Memory,
  nextProbeAt,
  type Observed,
  replicasOf,
  specFaultOf,
} from "./observe.ts";
import type { Effect, Note, Plan, Requeue } from "./plan.ts";
import { annotation, hasRcon } from "./resource.ts";
import { statefulSetOf } from "./stateful-set.ts";
import { failed, failureOf, hindered, running, starting, stopped, stopping } from "./status.ts";

export type Rule = (observed: Observed, now: number) => Plan | undefined;

const normal = (reason: string, message: string): Note => ({ type: "Normal", reason, message });
const after = (afterMs: number): Requeue => ({ afterMs: Math.max(0, afterMs) });

type Parts = { effects?: readonly Effect[]; notes?: readonly Note[]; memory?: Memory };

function plan(observed: Observed, status: MinecraftServerStatus, requeue: Requeue, parts: Parts = {}): Plan {
  const { effects = [], notes = [], memory = observed.memory } = parts;
  return { status, requeue, effects, notes, memory };
}

const invalidSpec = (observed: Observed, now: number, message: string): Plan =>
  plan(observed, failed(observed, now, { reason: "InvalidSpec", message }), "on-change");

// ---- desired Running -------------------------------------------------------------------------------------------

/** Nothing runs yet and somebody holds the world: the start waits. */
export const maintenanceHold: Rule = (observed, now) => {
  if (!isAtRest(observed) || observed.holder === undefined) return undefined;
  const why = { reason: "MaintenanceInProgress" as const, message: `The world is held: ${observed.holder}.` };
  const status = hindered(observed, now, { ...why, hidesEndpoint: false });
  return plan(observed, status, after(observed.settings.reconcile_maintenance));
};

/** The node is gone or not admitted: nobody is sent there, and nothing is moved. */
export const nodeUnavailable: Rule = (observed, now) => {
  if (observed.node.kind === "fine") return undefined;
  const why = { reason: "NodeUnavailable" as const, message: observed.node.problem };
  const status = hindered(observed, now, { ...why, hidesEndpoint: true });
  const service = serviceOf(observed.server, false);
  const isOpen = observed.service !== undefined && isServiceStale(observed.service, service);
  const effects: Effect[] = isOpen ? [{ kind: "patch-service", service }] : [];
  return plan(observed, status, after(observed.settings.reconcile_node), { effects });
};

export const specInvalid: Rule = (observed, now) => {
  const fault = specFaultOf(observed);
  return fault === undefined ? undefined : invalidSpec(observed, now, fault);
};

/** A Failed server was asked to try again: a new pod and a fresh budget. */
export const startRetried: Rule = (observed, now) => {
  if (!hasStartRetry(observed.server)) return undefined;
  const forget: Effect = { kind: "remove-annotation", key: annotation.startRetry };
  if (observed.status.phase !== "Failed")
    return plan(observed, observed.status, after(0), { effects: [forget] });
  const message = "The start is tried again with a fresh budget of restarts.";
  return restart(observed, now, { reason: "StartRetried", message, autoRestarts: 0, before: [forget] });
};

/** The password cannot be read, so the pod cannot be built. A server that runs already is left alone. */
export const secretUnusable: Rule = (observed, now) => {
  const { secret, status, settings } = observed;
  if (secret.kind !== "unusable" || status.phase === "Running") return undefined;
  const why = { reason: "RconSecretUnavailable" as const, message: secret.problem };
  return waitOrFail(observed, now, {
    ...why,
    deadline: "ReadinessTimeout",
    waitMs: settings.reconcile_secret,
  });
};

/** No pod accepts connections. */
export const podNotReady: Rule = (observed, now) => {
  if (isPodReady(observed)) return undefined;
  const applied = apply(observed, now);
  const changed = specChanged(observed, now, applied);
  if (changed) return changed;
  const message =
    replicasOf(observed) === 0 ? "The pod is being made." : "The pod does not accept connections yet.";
  return waitOrFail(observed, now, {
    reason: "PodNotReady",
    message,
    deadline: "StartupTimeout",
    waitMs: observed.settings.reconcile_starting,
    effects: applied.effects,
  });
};

export const addressPending: Rule = (observed, now) => {
  if (clusterIpOf(observed) !== undefined) return undefined;
  const { effects } = apply(observed, now);
  const why = { reason: "ServiceAddressPending" as const, message: "The Service has no address yet." };
  return plan(observed, starting(observed, now, why), after(observed.settings.reconcile_starting), {
    effects,
  });
};

/** The pod is ready, but RCON did not let us in. */
export const rconNotReached: Rule = (observed, now) => {
  const { server, probe, secret, status, settings, memory } = observed;
  if (!hasRcon(server) || probe.kind === "reached") return undefined;
  if (probe.kind === "none" && secret.kind === "present") return undefined;
  const { effects } = apply(observed, now);
  const problem = probe.kind === "failed" ? probe.problem : secret.kind === "unusable" ? secret.problem : "";
  const misses = memory.misses + 1;
  const remembered = { ...memory, misses, probedAt: now };
  if (status.phase === "Running" && misses < settings.probe_misses) {
    const same = running(observed, now, { count: "unasked", emptySince: status.emptySince });
    return plan(observed, same, after(settings.probe_retry), { effects, memory: remembered });
  }
  return waitOrFail(observed, now, {
    reason: "RconNotReachable",
    message: problem === "" ? "RCON is not reachable yet." : problem,
    deadline: "ReadinessTimeout",
    waitMs: settings.reconcile_starting,
    effects,
    memory: { ...remembered, misses: 0 },
  });
};

/** Everything answers: Running, with the players counted and the idle clock read. */
export const isRunning: Rule = (observed, now) => {
  const { probe, status, settings, memory, server } = observed;
  const { effects } = apply(observed, now);
  if (!hasRcon(server) || probe.kind !== "reached") {
    const same = running(observed, now, { count: "unasked", emptySince: status.emptySince });
    const requeue = hasRcon(server) ? after(nextProbeAt(observed) - now) : after(settings.reconcile_running);
    return plan(observed, same, requeue, { effects });
  }
  const { count } = probe;
  const idle = judgeIdle(observed, count, now);
  const emptySince =
    idle.kind === "empty" || idle.kind === "over" || idle.kind === "waits" ? idle.emptySince : undefined;
  const next = running(observed, now, { count: count ?? "unreadable", emptySince });
  const remembered = { ...memory, misses: 0, probedAt: now };
  if (idle.kind === "over") {
    const message = "Nobody was on for the whole idle time; the server is being stopped.";
    return plan(observed, next, after(settings.probe_retry), {
      effects: [...effects, { kind: "set-desired-stopped" }],
      notes: [normal("IdleStop", message)],
      memory: remembered,
    });
  }
  const later = nextProbeAt({ ...observed, status: next, memory: remembered });
  return plan(observed, next, after(later - now), { effects, memory: remembered });
};

// ---- desired Stopped -------------------------------------------------------------------------------------------

/** Nothing is left of a run. A spec that cannot be built shows here as well, before somebody wants to start. */
export const atRest: Rule = (observed, now) => {
  if (!isAtRest(observed) || observed.pod !== undefined) return undefined;
  const retry: Effect[] = hasStartRetry(observed.server)
    ? [{ kind: "remove-annotation", key: annotation.startRetry }]
    : [];
  const fault = specFaultOf(observed);
  if (fault !== undefined) return { ...invalidSpec(observed, now, fault), effects: retry };
  return plan(observed, stopped(observed, now), "on-change", { effects: retry, memory: forgotten });
};

/** The set is at zero and its pod is still going. */
export const podLeaving: Rule = (observed, now) => {
  if (replicasOf(observed) > 0) return undefined;
  return plan(observed, stopping(observed, now), after(observed.settings.reconcile_stopping));
};

/** Players are on: they are told, and get some time. */
export const noticeFirst: Rule = (observed, now) => {
  const { probe, status, settings, memory } = observed;
  if (!isNoticeOpen(observed) || probe.kind !== "reached" || probe.count?.online === 0) return undefined;
  const at = new Date(now).toISOString();
  const kept = running(observed, now, { count: probe.count ?? "unreadable", emptySince: status.emptySince });
  const seconds = Math.round(settings.stop_notice / 1_000);
  return plan(observed, { ...kept, stopNoticeAt: at }, after(settings.stop_notice), {
    effects: [{ kind: "tell-players", message: "stop-soon", unheard: stopNow(observed, now) }],
    notes: [normal("StopNotice", `Players were told that the server stops in ${seconds} s.`)],
    memory: { ...memory, probedAt: now },
  });
};

/** Players were told; the time they were given is not over. */
export const noticeRuns: Rule = (observed, now) => {
  const { status, settings } = observed;
  if (status.phase !== "Running" || status.stopNoticeAt === undefined || !isPodReady(observed))
    return undefined;
  const left = Date.parse(status.stopNoticeAt) + settings.stop_notice - now;
  return left > 0 ? plan(observed, status, after(left)) : undefined;
};

/** First the phase, so that nobody is sent there any more; then, in the next pass, the world and the pod. */
export const beginStop: Rule = (observed, now) =>
  observed.status.phase === "Stopping" ? undefined : stopNow(observed, now);

export const scaleDown: Rule = (observed, now) => {
  const canTalk = hasRcon(observed.server) && isPodReady(observed);
  const save: Effect[] = canTalk ? [{ kind: "save-world" }] : [];
  const resourceVersion = observed.statefulSet?.metadata.resourceVersion;
  const effects: Effect[] = [...save, { kind: "scale-down", resourceVersion }];
  return plan(observed, stopping(observed, now), after(observed.settings.reconcile_stopping), { effects });
};

// ---- parts of rules --------------------------------------------------------------------------------------------

const forgotten: Memory = { misses: 0, probedAt: 0, joinedUntil: 0 };

function stopNow(observed: Observed, now: number): Plan {
  const wasTold = observed.status.stopNoticeAt !== undefined;
  const effects: Effect[] = wasTold ? [{ kind: "tell-players", message: "stop-now" }] : [];
  return plan(observed, stopping(observed, now), after(0), { effects });
}

type Applied = { effects: Effect[]; isTemplateChanged: boolean };

/** What makes the objects of a server that is to run what they should be (behaviour.md b.3, 4 to 7). */
function apply(observed: Observed, now: number): Applied {
  const { server, service, headless, secret, statefulSet, settings } = observed;
  const effects: Effect[] = [];
  const wanted = serviceOf(server, true);
  if (!service) effects.push({ kind: "create-service", service: wanted });
  else if (isServiceStale(service, wanted)) effects.push({ kind: "patch-service", service: wanted });
  if (!headless) effects.push({ kind: "create-service", service: headlessServiceOf(server) });
  if (secret.kind === "missing")
    effects.push({ kind: "create-secret", secret: rconSecretOf(server, secret.fresh) });
  // A password that cannot be read now must not roll a pod that has it.
  if (hasRcon(server) && secret.kind !== "present" && secret.kind !== "missing") {
    return { effects, isTemplateChanged: false };
  }
  const password =
    secret.kind === "present" ? secret.password : secret.kind === "missing" ? secret.fresh : undefined;
  const next = statefulSetOf({ server, settings, password }, 1);
  const refused = (message: string) => invalidSpec(observed, now, message);
  if (!statefulSet) {
    effects.push({ kind: "create-stateful-set", statefulSet: next, refused });
    return { effects, isTemplateChanged: false };
  }
  const digest = (object: typeof next) => object.metadata.annotations?.[annotation.podTemplate];
  const isTemplateChanged = digest(statefulSet) !== digest(next);
  if (isTemplateChanged || replicasOf(observed) !== 1) {
    effects.push({ kind: "update-stateful-set", current: statefulSet, statefulSet: next, refused });
  }
  return { effects, isTemplateChanged };
}

/** A start that does not get on and whose template is not the wanted one begins anew with the new one. */
function specChanged(observed: Observed, now: number, applied: Applied): Plan | undefined {
  const { status, pod, statefulSet, settings } = observed;
  const isStarting = status.phase === "Starting" || status.phase === "Failed";
  const why = { reason: "SpecChanged" as const, message: "The settings changed; the start begins anew." };
  const again = () => starting(observed, now, { ...why, restart: { autoRestarts: 0 } });
  if (applied.isTemplateChanged) {
    if (!isStarting || replicasOf(observed) === 0) return undefined;
    return plan(observed, again(), after(settings.reconcile_starting), { effects: applied.effects });
  }
  const revision = pod?.metadata.labels?.["controller-revision-hash"];
  const wanted = statefulSet?.status?.updateRevision;
  const isSeen = (statefulSet?.status?.observedGeneration ?? 0) >= (statefulSet?.metadata.generation ?? 0);
  const isStale =
    pod && !pod.metadata.deletionTimestamp && revision && wanted && revision !== wanted && isSeen;
  if (!isStale) return undefined;
  const { name, uid } = pod.metadata;
  return plan(observed, again(), after(settings.reconcile_starting), {
    effects: [...applied.effects, { kind: "delete-pod", name, uid }],
    notes: [normal("PodReplaced", "The pod of the old settings is replaced.")],
  });
}

type Wait = {
  reason: Reason;
  message: string;
  deadline: "StartupTimeout" | "ReadinessTimeout";
  waitMs: number;
  effects?: readonly Effect[];
  memory?: Memory;
};

/** Starting until its deadline, then Failed until its next automatic restart is due (behaviour.md b.5). */
function waitOrFail(observed: Observed, now: number, wait: Wait): Plan {
  const { reason, message, waitMs, effects = [], memory = observed.memory } = wait;
  const begun = starting(observed, now, { reason, message });
  const anchor = Date.parse(begun.startRequestedAt ?? "");
  const budgetMs = deadlineMsOf(observed, wait.deadline);
  const left = anchor + budgetMs - now;
  if (left > 0) return plan(observed, begun, after(Math.min(waitMs, left)), { effects, memory });
  const known = failureOf(observed.status);
  const cause = known === "StartupTimeout" || known === "ReadinessTimeout" ? known : wait.deadline;
  return failOrRestart(observed, now, {
    cause,
    anchor,
    budgetMs: deadlineMsOf(observed, cause),
    effects,
    memory,
  });
}

type Failure = {
  cause: "StartupTimeout" | "ReadinessTimeout";
  anchor: number;
  budgetMs: number;
  effects: readonly Effect[];
  memory: Memory;
};

function failOrRestart(observed: Observed, now: number, failure: Failure): Plan {
  const { settings, status } = observed;
  const spent = status.autoRestarts ?? 0;
  const dueAt = failure.anchor + failure.budgetMs + settings.auto_restart_backoff * 2 ** spent;
  const mayRestart = spent < settings.auto_restarts;
  if (mayRestart && status.phase === "Failed" && now >= dueAt) {
    const message = `The start took too long; automatic restart ${spent + 1} of ${settings.auto_restarts}.`;
    return restart(observed, now, {
      reason: "AutoRestart",
      message,
      autoRestarts: spent + 1,
      before: failure.effects,
    });
  }
  const seconds = Math.round(failure.budgetMs / 1_000);
  const message =
    failure.cause === "StartupTimeout"
      ? `The server did not accept connections within ${seconds} s of its start; its log may say why.`
      : `RCON was not reached within ${seconds} s of the start; check the server's RCON settings.`;
  const { effects, memory } = failure;
  const wait = mayRestart ? Math.min(dueAt - now, settings.reconcile_failed) : settings.reconcile_failed;
  return plan(observed, failed(observed, now, { reason: failure.cause, message }), after(wait), {
    effects,
    memory,
  });
}

function restart(
  observed: Observed,
  now: number,
  about: {
    reason: "AutoRestart" | "StartRetried";
    message: string;
    autoRestarts: number;
    before: readonly Effect[];
  },
): Plan {
  const { reason, message, autoRestarts, before } = about;
  const { pod, settings } = observed;
  const status = starting(observed, now, { reason, message, restart: { autoRestarts } });
  const isThere = pod !== undefined && pod.metadata.deletionTimestamp === undefined;
  const replace: Effect[] = isThere
    ? [{ kind: "delete-pod", name: pod.metadata.name, uid: pod.metadata.uid }]
    : [];
  const notes: Note[] = reason === "StartRetried" ? [normal(reason, message)] : [];
  return plan(observed, status, after(settings.reconcile_starting), {
    effects: [...replace, ...before],
    notes,
  });
}

function deadlineMsOf(
  { server, settings }: Observed,
  deadline: "StartupTimeout" | "ReadinessTimeout",
): number {
  const { timeoutSeconds, readinessTimeoutSeconds } = server.spec.startup ?? {};
  const seconds = deadline === "StartupTimeout" ? timeoutSeconds : readinessTimeoutSeconds;
  return seconds ? seconds * 1_000 : settings.startup_timeout;
}
