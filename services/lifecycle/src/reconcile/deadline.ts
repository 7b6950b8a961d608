// Deadlines of a start, automatic restarts, and starts over with changed settings (docs/reference/server-states.md#starting).

import type { Reason } from "../cluster/condition.ts";
import type { ObjectPlan } from "./decide-objects.ts";
import { heldBack, hungRun } from "./hang.ts";
import {
  type Deadline,
  deadlineMsOf,
  isPodTerminating,
  type Observed,
  type PassMemory,
  replicasOf,
} from "./observed.ts";
import type { Effect, Note, Plan } from "./plan.ts";
import { after, normal, plan } from "./rule.ts";
import { failed, failureOf, starting } from "./status.ts";

/** A start that has not succeeded and whose template changed starts over with the new one. */
export function specChanged(observed: Observed, now: number, applied: ObjectPlan): Plan | undefined {
  const { status, pod, statefulSet, settings } = observed;
  const isStarting = status.phase === "Starting" || status.phase === "Failed";
  const why = {
    reason: "SpecChanged" as const,
    message: "The settings changed; the server restarts with the new ones.",
  };
  const startOver = () => starting(observed, now, { ...why, restart: { autoRestarts: 0 } });
  if (applied.isTemplateChanged) {
    if (!isStarting || replicasOf(observed) === 0) return undefined;
    return plan(observed, {
      status: startOver(),
      requeue: after(settings.reconcile_starting),
      effects: applied.effects,
    });
  }
  const revision = pod?.metadata.labels?.["controller-revision-hash"];
  const wanted = statefulSet?.status?.updateRevision;
  const isSeen = (statefulSet?.status?.observedGeneration ?? 0) >= (statefulSet?.metadata.generation ?? 0);
  const isStale =
    pod && !isPodTerminating(pod, observed.memory) && revision && wanted && revision !== wanted && isSeen;
  if (!isStale) return undefined;
  const { name, uid } = pod.metadata;
  return plan(observed, {
    status: startOver(),
    requeue: after(settings.reconcile_starting),
    effects: [...applied.effects, { kind: "delete-pod", name, uid }],
    notes: [normal("PodReplaced", "The pod with the old settings is replaced.")],
    memory: { ...observed.memory, replacedPod: uid },
  });
}

type Wait = {
  reason: Reason;
  message: string;
  deadline: Deadline;
  waitMs: number;
  effects?: readonly Effect[];
  memory?: PassMemory;
};

/** Starting until its deadline, then Failed until its next automatic restart is due (docs/reference/server-states.md#starting). */
export function waitOrFail(observed: Observed, now: number, wait: Wait): Plan {
  const { reason, message, waitMs, effects = [], memory = observed.memory } = wait;
  const begun = starting(observed, now, { reason, message });
  const anchor = Date.parse(begun.startRequestedAt ?? "");
  const budgetMs = deadlineMsOf(observed, wait.deadline);
  const left = anchor + budgetMs - now;
  if (left > 0)
    return plan(observed, { status: begun, requeue: after(Math.min(waitMs, left)), effects, memory });
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
  cause: Deadline;
  anchor: number;
  budgetMs: number;
  effects: readonly Effect[];
  memory: PassMemory;
};

function failOrRestart(observed: Observed, now: number, failure: Failure): Plan {
  const { settings, status } = observed;
  const spent = status.autoRestarts ?? 0;
  const dueAt = failure.anchor + failure.budgetMs + settings.auto_restart_backoff * 2 ** spent;
  const held = heldBack(observed, now);
  const mayRestart = spent < settings.auto_restarts && held === undefined;
  if (mayRestart && status.phase === "Failed" && now >= dueAt) {
    const message = `The start took too long; automatic restart ${spent + 1} of ${settings.auto_restarts}.`;
    return restart(observed, now, {
      reason: "AutoRestart",
      message,
      autoRestarts: spent + 1,
      before: hungRun(observed) ? [...failure.effects, { kind: "save-world" }] : failure.effects,
    });
  }
  const seconds = Math.round(failure.budgetMs / 1_000);
  const message =
    failure.cause === "StartupTimeout"
      ? `The server did not accept connections within ${seconds} s of its start; its log may say why.`
      : `RCON was not reached within ${seconds} s of the start; check the server's RCON settings.`;
  const { effects, memory } = failure;
  const longest = held === undefined ? settings.reconcile_failed : settings.count_interval;
  const wait = mayRestart ? Math.min(dueAt - now, longest) : longest;
  const why = held === undefined ? message : `${message} ${held}`;
  return plan(observed, {
    status: failed(observed, now, { reason: failure.cause, message: why }),
    requeue: after(wait),
    effects,
    memory,
  });
}

/** A new pod with a new start time. */
export function restart(
  observed: Observed,
  now: number,
  about: {
    reason: "AutoRestart" | "StartRetried" | "RestartRequested";
    message: string;
    autoRestarts: number;
    before: readonly Effect[];
    /** Clears the request that this restart answers. */
    request?: Effect;
  },
): Plan {
  const { reason, message, autoRestarts, before, request } = about;
  const { pod, settings } = observed;
  const status = starting(observed, now, { reason, message, restart: { autoRestarts } });
  const current = pod !== undefined && !isPodTerminating(pod, observed.memory) ? pod.metadata : undefined;
  const replace: Effect[] = current ? [{ kind: "delete-pod", name: current.name, uid: current.uid }] : [];
  const notes: Note[] = reason === "AutoRestart" ? [] : [normal(reason, message)];
  return plan(observed, {
    status,
    requeue: after(settings.reconcile_starting),
    effects: [...before, ...replace, ...(request ? [request] : [])],
    notes,
    memory: { ...observed.memory, misses: 0, ...(current && { replacedPod: current.uid }) },
  });
}
