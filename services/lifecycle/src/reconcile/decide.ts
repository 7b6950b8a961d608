import { keptAwakeUntil } from "../cluster/kept-awake.ts";
import { wantsToRun } from "../cluster/resource.ts";
import type { Observed } from "./observed.ts";
import type { Effect, Plan } from "./plan.ts";
import { after, normal, type Rule } from "./rule.ts";
import {
  addressPending,
  forwardingUnusable,
  isRunning,
  msToRestart,
  nodeUnavailable,
  podNotReady,
  rconNotReached,
  restartRequested,
  secretUnusable,
  specInvalid,
  startRetried,
  worldLocked,
} from "./rules-running.ts";
import { atRest, awaitNotice, beginNotice, beginStop, podTerminating, scaleDown } from "./rules-stopped.ts";

// States of a server (docs/reference/server-states.md#phases): the desired state, what a pass observes, and the phase and condition it leads to.
//
//   Running  world locked, nothing runs          phase stays    Ready=False MaintenanceInProgress    5 s
//            node unavailable                    phase stays    Ready=False NodeUnavailable         10 s
//            spec cannot be built                Failed         InvalidSpec                         on change
//            start-retry on a Failed server      Starting       StartRetried, new pod, new budget    2 s
//            restart of a Running server         Starting       RestartRequested, saved, new pod         2 s
//            the same, its time is not there     Running                                             rest of it
//            password unusable                   Starting       RconSecretUnavailable               10 s
//            forwarding secret unusable          Starting       ForwardingSecretUnavailable         10 s
//            pod not ready                       Starting       PodNotReady                          2 s
//            pod not ready, other template       Starting       SpecChanged, new pod, new budget     2 s
//            pod not ready, time is up           Failed         StartupTimeout            until the next restart
//            Service without an address          Starting       ServiceAddressPending                2 s
//            RCON refuses                        Starting       RconNotReachable                     2 s
//            RCON refuses, time is up            Failed         ReadinessTimeout          until the next restart
//            RCON refuses, was Running           Running        until the third miss in a row       10 s
//            timed out, restart is due           Starting       AutoRestart, new pod                 2 s
//            the same, but it hangs and its policy leaves it alone      Failed                           30 s
//            RCON answers (or is off)            Running        counted every 30 s and at the idle deadline
//            empty for the whole idle time       Running        desired state becomes Stopped
//   Stopped  nothing is left                     Stopped        (Failed InvalidSpec when it cannot be built)
//            scaled to zero, pod still there     Stopping                                            5 s
//            players online, not warned yet      Running        warned, StopNotice                    30 s
//            warned, time not up                 Running                                             rest of it
//            otherwise                           Stopping       then saved and scaled down
//
// Nothing leads to Unknown: readers see it for a server that no pass has touched yet.

const whenRunning: readonly Rule[] = [
  worldLocked,
  nodeUnavailable,
  specInvalid,
  startRetried,
  restartRequested,
  secretUnusable,
  forwardingUnusable,
  podNotReady,
  addressPending,
  rconNotReached,
  isRunning,
];

const whenStopped: readonly Rule[] = [atRest, podTerminating, beginNotice, awaitNotice, beginStop, scaleDown];

/** The plan for what was observed. Pure: the clock and everything else comes in, effects come out. */
export function decide(observed: Observed, now: number): Plan {
  const isWanted = wantsToRun(observed.server);
  const rules = isWanted ? whenRunning : whenStopped;
  for (const rule of rules) {
    const plan = rule(observed, now);
    if (!plan) continue;
    const next = isWanted ? awaitRestart(observed, cancelStop(observed, plan), now) : plan;
    return endKeepAwake(observed, next, now);
  }
  throw new Error("no rule applies, although the last one always does");
}

/** A start during the notice cancels the stop, whatever else the pass does. */
function cancelStop(observed: Observed, plan: Plan): Plan {
  if (observed.status.stopNoticeAt === undefined) return plan;
  const { stopNoticeAt: _gone, ...status } = plan.status;
  const announce: Effect = { kind: "announce", message: "stop-cancelled" };
  return { ...plan, status, effects: [announce, ...plan.effects] };
}

/** A pass is due when a restart is that players were told of. */
function awaitRestart(observed: Observed, plan: Plan, now: number): Plan {
  const left = msToRestart(observed, now);
  return left > 0 ? dueWithin(plan, left) : plan;
}

function dueWithin(plan: Plan, ms: number): Plan {
  const { requeue } = plan;
  const isSooner = requeue !== "on-change" && requeue.afterMs <= ms;
  return isSooner ? plan : { ...plan, requeue: after(ms) };
}

/** What keeps a server awake goes away when its time is over, whatever else the pass does; until then a pass is due then. */
function endKeepAwake(observed: Observed, plan: Plan, now: number): Plan {
  const end = keptAwakeUntil(observed.server, observed.settings.keep_awake_longest);
  if (end === undefined) return plan;
  if (now < end) return dueWithin(plan, end - now);
  // Each is written against the version that the pass has seen, so the next pass does what does not fit into this one.
  if (plan.effects.some(({ kind }) => kind === "set-desired-stopped" || kind === "remove-annotation"))
    return plan;
  const note = normal("KeepAwakeEnded", "The time is over until which the server was kept awake.");
  return { ...plan, effects: [...plan.effects, { kind: "end-keep-awake" }], notes: [...plan.notes, note] };
}
