// What a server that is to run needs, in the order of docs/reference/server-states.md#pass.

import { annotation, hasRcon } from "../cluster/resource.ts";
import { restartAt } from "../server/restart-notice.ts";
import { restart, specChanged, waitOrFail } from "./deadline.ts";
import { decideObjects } from "./decide-objects.ts";
import { decideIdle } from "./idle.ts";
import { isServiceStale, serviceOf } from "./objects.ts";
import {
  clusterIpOf,
  isAtRest,
  isPodReady,
  isRequested,
  nextProbeAt,
  type Observed,
  replicasOf,
  specFaultOf,
} from "./observed.ts";
import type { Effect } from "./plan.ts";
import { after, invalidSpec, normal, plan, type Rule } from "./rule.ts";
import { blocked, running, starting } from "./status.ts";

/** Nothing runs yet and the world is locked: the start waits. */
export const worldLocked: Rule = (observed, now) => {
  if (!isAtRest(observed) || observed.holder === undefined) return undefined;
  const why = {
    reason: "MaintenanceInProgress" as const,
    message: `The world is locked: ${observed.holder}.`,
  };
  const status = blocked(observed, now, { ...why, hidesEndpoint: false });
  return plan(observed, { status, requeue: after(observed.settings.reconcile_maintenance) });
};

/** The node is gone or not approved: players are not sent there, and the pod is not moved. */
export const nodeUnavailable: Rule = (observed, now) => {
  if (observed.node.kind === "fine") return undefined;
  const why = { reason: "NodeUnavailable" as const, message: observed.node.problem };
  const status = blocked(observed, now, { ...why, hidesEndpoint: true });
  const service = serviceOf(observed.server, false);
  const isStale = observed.service !== undefined && isServiceStale(observed.service, service);
  const effects: Effect[] = isStale ? [{ kind: "patch-service", service }] : [];
  return plan(observed, { status, requeue: after(observed.settings.reconcile_node), effects });
};

export const specInvalid: Rule = (observed, now) => {
  const fault = specFaultOf(observed);
  return fault === undefined ? undefined : invalidSpec(observed, now, fault);
};

/** Another start of a Failed server was requested: a new pod and a fresh budget of restarts. */
export const startRetried: Rule = (observed, now) => {
  if (!isRequested(observed.server, "startRetry")) return undefined;
  const clearRequest: Effect = { kind: "remove-annotation", key: annotation.startRetry };
  if (observed.status.phase !== "Failed")
    return plan(observed, { status: observed.status, requeue: after(0), effects: [clearRequest] });
  const message = "The start is retried with a fresh budget of restarts.";
  return restart(observed, now, {
    reason: "StartRetried",
    message,
    autoRestarts: 0,
    before: [],
    request: clearRequest,
  });
};

/** Milliseconds until the requested restart of a running server is due, while its players have time to leave. */
export function msToRestart({ server, status, pod }: Observed, now: number): number {
  if (status.phase !== "Running" || pod === undefined) return 0;
  return Math.max(0, (restartAt(server) ?? 0) - now);
}

/** A restart was requested: a running server saves and gets a new pod; for any other one the request is dropped. */
export const restartRequested: Rule = (observed, now) => {
  const { server, status, pod } = observed;
  if (!isRequested(server, "restart") || msToRestart(observed, now) > 0) return undefined;
  const clearRequest: Effect = { kind: "remove-annotation", key: annotation.restart };
  if (status.phase !== "Running" || pod === undefined)
    return plan(observed, { status, requeue: after(0), effects: [clearRequest] });
  const save: Effect[] = hasRcon(server) && isPodReady(observed) ? [{ kind: "save-world" }] : [];
  const message = "The server restarts on request.";
  return restart(observed, now, {
    reason: "RestartRequested",
    message,
    autoRestarts: 0,
    before: save,
    request: clearRequest,
  });
};

/** Without the secret the server would accept players from anywhere. One that is already running is left alone. */
export const forwardingUnusable: Rule = (observed, now) => {
  const { forwarding, status, settings } = observed;
  if (forwarding.kind !== "unusable" || status.phase === "Running") return undefined;
  return waitOrFail(observed, now, {
    reason: "ForwardingSecretUnavailable",
    message: forwarding.problem,
    deadline: "ReadinessTimeout",
    waitMs: settings.reconcile_secret,
  });
};

/** The password cannot be read, so the pod cannot be built. A server that is already running is left alone. */
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
  const applied = decideObjects(observed);
  const changed = specChanged(observed, now, applied);
  if (changed) return changed;
  const message =
    replicasOf(observed) === 0 ? "The pod is being created." : "The pod does not accept connections yet.";
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
  const { effects } = decideObjects(observed);
  const why = { reason: "ServiceAddressPending" as const, message: "The Service has no address yet." };
  return plan(observed, {
    status: starting(observed, now, why),
    requeue: after(observed.settings.reconcile_starting),
    effects,
  });
};

/** The pod is ready, but RCON cannot be reached. */
export const rconNotReached: Rule = (observed, now) => {
  const { server, probe, secret, status, settings, memory } = observed;
  if (!hasRcon(server) || probe.kind === "reached") return undefined;
  if (probe.kind === "none" && secret.kind === "present") return undefined;
  const { effects } = decideObjects(observed);
  // The server has its password and its players; that we cannot read it now is no reason to replace the pod.
  if (secret.kind === "unusable" && status.phase === "Running") {
    const same = running(observed, now, { count: "unreadable", emptySince: status.emptySince });
    return plan(observed, { status: same, requeue: after(settings.reconcile_secret), effects });
  }
  const problem = probe.kind === "failed" ? probe.problem : secret.kind === "unusable" ? secret.problem : "";
  const misses = memory.misses + 1;
  const remembered = { ...memory, misses, probedAt: now };
  if (status.phase === "Running" && misses < settings.probe_misses) {
    const same = running(observed, now, { count: "unread", emptySince: status.emptySince });
    return plan(observed, {
      status: same,
      requeue: after(settings.probe_retry),
      effects,
      memory: remembered,
    });
  }
  return waitOrFail(observed, now, {
    reason: "RconNotReachable",
    message: problem === "" ? "RCON is not reachable yet." : problem,
    deadline: "ReadinessTimeout",
    waitMs: settings.reconcile_starting,
    effects,
    memory: {
      ...remembered,
      misses: 0,
      ...(status.phase === "Running" && { lostPlayers: status.players?.online }),
    },
  });
};

/** Everything answers: Running, with players counted and the idle clock updated. */
export const isRunning: Rule = (observed, now) => {
  const { probe, status, settings, memory, server } = observed;
  const { effects } = decideObjects(observed);
  if (!hasRcon(server) || probe.kind !== "reached") {
    const same = running(observed, now, { count: "unread", emptySince: status.emptySince });
    const requeue = hasRcon(server) ? after(nextProbeAt(observed) - now) : after(settings.reconcile_running);
    return plan(observed, { status: same, requeue, effects });
  }
  const { count } = probe;
  const idle = decideIdle(observed, count, now);
  const emptySince =
    idle.kind === "empty" || idle.kind === "over" || idle.kind === "waits" ? idle.emptySince : undefined;
  const next = running(observed, now, { count: count ?? "unreadable", emptySince });
  const remembered = { ...memory, misses: 0, probedAt: now };
  if (idle.kind === "over") {
    const message = "Nobody was online for the whole idle time; the server is being stopped.";
    return plan(observed, {
      status: next,
      requeue: after(settings.probe_retry),
      effects: [...effects, { kind: "set-desired-stopped" }],
      notes: [normal("IdleStop", message)],
      memory: remembered,
    });
  }
  const later = nextProbeAt({ ...observed, status: next, memory: remembered });
  return plan(observed, { status: next, requeue: after(later - now), effects, memory: remembered });
};
