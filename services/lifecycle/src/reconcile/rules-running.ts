// What a server that is to run needs, in the order of behaviour.md b.3.

import { annotation, hasRcon } from "../cluster/resource.ts";
import { restart, specChanged, waitOrFail } from "./deadline.ts";
import { apply } from "./decide-objects.ts";
import { judgeIdle } from "./idle.ts";
import { isServiceStale, serviceOf } from "./objects.ts";
import {
  clusterIpOf,
  isAsked,
  isAtRest,
  isPodReady,
  nextProbeAt,
  replicasOf,
  specFaultOf,
} from "./observed.ts";
import type { Effect } from "./plan.ts";
import { after, invalidSpec, normal, plan, type Rule } from "./rule.ts";
import { hindered, running, starting } from "./status.ts";

/** Nothing runs yet and somebody holds the world: the start waits. */
export const maintenanceHold: Rule = (observed, now) => {
  if (!isAtRest(observed) || observed.holder === undefined) return undefined;
  const why = { reason: "MaintenanceInProgress" as const, message: `The world is held: ${observed.holder}.` };
  const status = hindered(observed, now, { ...why, hidesEndpoint: false });
  return plan(observed, { status, requeue: after(observed.settings.reconcile_maintenance) });
};

/** The node is gone or not admitted: nobody is sent there, and nothing is moved. */
export const nodeUnavailable: Rule = (observed, now) => {
  if (observed.node.kind === "fine") return undefined;
  const why = { reason: "NodeUnavailable" as const, message: observed.node.problem };
  const status = hindered(observed, now, { ...why, hidesEndpoint: true });
  const service = serviceOf(observed.server, false);
  const isOpen = observed.service !== undefined && isServiceStale(observed.service, service);
  const effects: Effect[] = isOpen ? [{ kind: "patch-service", service }] : [];
  return plan(observed, { status, requeue: after(observed.settings.reconcile_node), effects });
};

export const specInvalid: Rule = (observed, now) => {
  const fault = specFaultOf(observed);
  return fault === undefined ? undefined : invalidSpec(observed, now, fault);
};

/** A Failed server was asked to try again: a new pod and a fresh budget. */
export const startRetried: Rule = (observed, now) => {
  if (!isAsked(observed.server, "startRetry")) return undefined;
  const forget: Effect = { kind: "remove-annotation", key: annotation.startRetry };
  if (observed.status.phase !== "Failed")
    return plan(observed, { status: observed.status, requeue: after(0), effects: [forget] });
  const message = "The start is tried again with a fresh budget of restarts.";
  return restart(observed, now, {
    reason: "StartRetried",
    message,
    autoRestarts: 0,
    before: [],
    request: forget,
  });
};

/** A running server was asked to begin anew: it saves, and gets a new pod. Of any other one it is only forgotten. */
export const restartRequested: Rule = (observed, now) => {
  const { server, status, pod } = observed;
  if (!isAsked(server, "restart")) return undefined;
  const forget: Effect = { kind: "remove-annotation", key: annotation.restart };
  if (status.phase !== "Running" || pod === undefined)
    return plan(observed, { status, requeue: after(0), effects: [forget] });
  const save: Effect[] = hasRcon(server) && isPodReady(observed) ? [{ kind: "save-world" }] : [];
  const message = "The server is restarted as it was asked to.";
  return restart(observed, now, {
    reason: "RestartRequested",
    message,
    autoRestarts: 0,
    before: save,
    request: forget,
  });
};

/** Without the secret the server would take players from anywhere. One that runs already is left alone. */
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
  const applied = apply(observed);
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
  const { effects } = apply(observed);
  const why = { reason: "ServiceAddressPending" as const, message: "The Service has no address yet." };
  return plan(observed, {
    status: starting(observed, now, why),
    requeue: after(observed.settings.reconcile_starting),
    effects,
  });
};

/** The pod is ready, but RCON did not let us in. */
export const rconNotReached: Rule = (observed, now) => {
  const { server, probe, secret, status, settings, memory } = observed;
  if (!hasRcon(server) || probe.kind === "reached") return undefined;
  if (probe.kind === "none" && secret.kind === "present") return undefined;
  const { effects } = apply(observed);
  // The server has its password and its players; that we cannot read it now is no reason to take the pod from them.
  if (secret.kind === "unusable" && status.phase === "Running") {
    const same = running(observed, now, { count: "unreadable", emptySince: status.emptySince });
    return plan(observed, { status: same, requeue: after(settings.reconcile_secret), effects });
  }
  const problem = probe.kind === "failed" ? probe.problem : secret.kind === "unusable" ? secret.problem : "";
  const misses = memory.misses + 1;
  const remembered = { ...memory, misses, probedAt: now };
  if (status.phase === "Running" && misses < settings.probe_misses) {
    const same = running(observed, now, { count: "unasked", emptySince: status.emptySince });
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
    memory: { ...remembered, misses: 0 },
  });
};

/** Everything answers: Running, with the players counted and the idle clock read. */
export const isRunning: Rule = (observed, now) => {
  const { probe, status, settings, memory, server } = observed;
  const { effects } = apply(observed);
  if (!hasRcon(server) || probe.kind !== "reached") {
    const same = running(observed, now, { count: "unasked", emptySince: status.emptySince });
    const requeue = hasRcon(server) ? after(nextProbeAt(observed) - now) : after(settings.reconcile_running);
    return plan(observed, { status: same, requeue, effects });
  }
  const { count } = probe;
  const idle = judgeIdle(observed, count, now);
  const emptySince =
    idle.kind === "empty" || idle.kind === "over" || idle.kind === "waits" ? idle.emptySince : undefined;
  const next = running(observed, now, { count: count ?? "unreadable", emptySince });
  const remembered = { ...memory, misses: 0, probedAt: now };
  if (idle.kind === "over") {
    const message = "Nobody was on for the whole idle time; the server is being stopped.";
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
