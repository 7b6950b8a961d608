// How a server stops (docs/reference/server-states.md#stop).

import { annotation, hasRcon } from "../cluster/resource.ts";
import {
  emptyMemory,
  isAtRest,
  isNoticeOpen,
  isPodReady,
  isRequested,
  type Observed,
  replicasOf,
  specFaultOf,
} from "./observed.ts";
import type { Effect, Plan } from "./plan.ts";
import { after, invalidSpec, normal, plan, type Rule } from "./rule.ts";
import { running, stopped, stopping } from "./status.ts";

/** Nothing is left of a run. An invalid spec shows here as well, before anybody starts the server. */
export const atRest: Rule = (observed, now) => {
  if (!isAtRest(observed) || observed.pod !== undefined) return undefined;
  const obsolete = (["startRetry", "restart"] as const).filter((request) =>
    isRequested(observed.server, request),
  );
  const forget = obsolete.map((request): Effect => ({ kind: "remove-annotation", key: annotation[request] }));
  const fault = specFaultOf(observed);
  if (fault !== undefined) return { ...invalidSpec(observed, now, fault), effects: forget };
  return plan(observed, {
    status: stopped(observed, now),
    requeue: "on-change",
    effects: forget,
    memory: emptyMemory,
  });
};

/** The StatefulSet is scaled to zero and its pod is still terminating. */
export const podTerminating: Rule = (observed, now) => {
  if (replicasOf(observed) > 0) return undefined;
  return plan(observed, {
    status: stopping(observed, now),
    requeue: after(observed.settings.reconcile_stopping),
  });
};

/** Players are online: they are warned and given some time. */
export const beginNotice: Rule = (observed, now) => {
  const { probe, status, settings, memory } = observed;
  if (!isNoticeOpen(observed) || probe.kind !== "reached" || probe.count?.online === 0) return undefined;
  const at = new Date(now).toISOString();
  const kept = running(observed, now, { count: probe.count ?? "unreadable", emptySince: status.emptySince });
  const seconds = Math.round(settings.stop_notice / 1_000);
  return plan(observed, {
    status: { ...kept, stopNoticeAt: at },
    requeue: after(settings.stop_notice),
    effects: [{ kind: "announce", message: "stop-soon", undelivered: stopNow(observed, now) }],
    notes: [normal("StopNotice", `Players were told that the server stops in ${seconds} s.`)],
    memory: { ...memory, probedAt: now },
  });
};

/** Players were warned, and their time is not up. */
export const awaitNotice: Rule = (observed, now) => {
  const { status, settings } = observed;
  if (status.phase !== "Running" || status.stopNoticeAt === undefined || !isPodReady(observed))
    return undefined;
  const left = Date.parse(status.stopNoticeAt) + settings.stop_notice - now;
  return left > 0 ? plan(observed, { status, requeue: after(left) }) : undefined;
};

/** First the phase, so that nobody is sent there any more; the next pass saves the world and scales down. */
export const beginStop: Rule = (observed, now) =>
  observed.status.phase === "Stopping" ? undefined : stopNow(observed, now);

export const scaleDown: Rule = (observed, now) => {
  const isReachable = hasRcon(observed.server) && isPodReady(observed);
  const save: Effect[] = isReachable ? [{ kind: "save-world" }] : [];
  const resourceVersion = observed.statefulSet?.metadata.resourceVersion;
  const effects: Effect[] = [...save, { kind: "scale-down", resourceVersion }];
  return plan(observed, {
    status: stopping(observed, now),
    requeue: after(observed.settings.reconcile_stopping),
    effects,
  });
};

function stopNow(observed: Observed, now: number): Plan {
  const isWarned = observed.status.stopNoticeAt !== undefined;
  const effects: Effect[] = isWarned ? [{ kind: "announce", message: "stop-now" }] : [];
  return plan(observed, { status: stopping(observed, now), requeue: after(0), effects });
}
