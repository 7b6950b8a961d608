// How a server comes to rest (behaviour.md b.7).

import { annotation, hasRcon } from "../cluster/resource.ts";
import {
  isAsked,
  isAtRest,
  isNoticeOpen,
  isPodReady,
  noMemory,
  type Observed,
  replicasOf,
  specFaultOf,
} from "./observed.ts";
import type { Effect, Plan } from "./plan.ts";
import { after, invalidSpec, normal, plan, type Rule } from "./rule.ts";
import { running, stopped, stopping } from "./status.ts";

/** Nothing is left of a run. A spec that cannot be built shows here as well, before somebody wants to start. */
export const atRest: Rule = (observed, now) => {
  if (!isAtRest(observed) || observed.pod !== undefined) return undefined;
  const overtaken = (["startRetry", "restart"] as const).filter((request) =>
    isAsked(observed.server, request),
  );
  const forget = overtaken.map(
    (request): Effect => ({ kind: "remove-annotation", key: annotation[request] }),
  );
  const fault = specFaultOf(observed);
  if (fault !== undefined) return { ...invalidSpec(observed, now, fault), effects: forget };
  return plan(observed, {
    status: stopped(observed, now),
    requeue: "on-change",
    effects: forget,
    memory: noMemory,
  });
};

/** The set is at zero and its pod is still going. */
export const podLeaving: Rule = (observed, now) => {
  if (replicasOf(observed) > 0) return undefined;
  return plan(observed, {
    status: stopping(observed, now),
    requeue: after(observed.settings.reconcile_stopping),
  });
};

/** Players are on: they are told, and get some time. */
export const noticeFirst: Rule = (observed, now) => {
  const { probe, status, settings, memory } = observed;
  if (!isNoticeOpen(observed) || probe.kind !== "reached" || probe.count?.online === 0) return undefined;
  const at = new Date(now).toISOString();
  const kept = running(observed, now, { count: probe.count ?? "unreadable", emptySince: status.emptySince });
  const seconds = Math.round(settings.stop_notice / 1_000);
  return plan(observed, {
    status: { ...kept, stopNoticeAt: at },
    requeue: after(settings.stop_notice),
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
  return left > 0 ? plan(observed, { status, requeue: after(left) }) : undefined;
};

/** First the phase, so that nobody is sent there any more; then, in the next pass, the world and the pod. */
export const beginStop: Rule = (observed, now) =>
  observed.status.phase === "Stopping" ? undefined : stopNow(observed, now);

export const scaleDown: Rule = (observed, now) => {
  const canTalk = hasRcon(observed.server) && isPodReady(observed);
  const save: Effect[] = canTalk ? [{ kind: "save-world" }] : [];
  const resourceVersion = observed.statefulSet?.metadata.resourceVersion;
  const effects: Effect[] = [...save, { kind: "scale-down", resourceVersion }];
  return plan(observed, {
    status: stopping(observed, now),
    requeue: after(observed.settings.reconcile_stopping),
    effects,
  });
};

function stopNow(observed: Observed, now: number): Plan {
  const wasTold = observed.status.stopNoticeAt !== undefined;
  const effects: Effect[] = wasTold ? [{ kind: "tell-players", message: "stop-now" }] : [];
  return plan(observed, { status: stopping(observed, now), requeue: after(0), effects });
}
