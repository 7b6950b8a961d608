import { wantsToRun } from "../cluster/resource.ts";
import type { Observed } from "./observed.ts";
import type { Effect, Plan } from "./plan.ts";
import type { Rule } from "./rule.ts";
import {
  addressPending,
  forwardingUnusable,
  isRunning,
  maintenanceHold,
  nodeUnavailable,
  podNotReady,
  rconNotReached,
  restartRequested,
  secretUnusable,
  specInvalid,
  startRetried,
} from "./rules-running.ts";
import { atRest, beginStop, noticeFirst, noticeRuns, podLeaving, scaleDown } from "./rules-stopped.ts";

// States of a server (interface.md 3.1). Left what is asked for, right what a pass finds and where it leads.
//
//   Running  world held, nothing runs            phase stays    Ready=False MaintenanceInProgress    5 s
//            node not admitted                   phase stays    Ready=False NodeUnavailable         10 s
//            spec cannot be built                Failed         InvalidSpec                         on change
//            start-retry on a Failed server      Starting       StartRetried, new pod, new budget    2 s
//            restart of a Running server         Starting       RestartRequested, saved, new pod         2 s
//            password unusable                   Starting       RconSecretUnavailable               10 s
//            forwarding secret unusable          Starting       ForwardingSecretUnavailable         10 s
//            pod not ready                       Starting       PodNotReady                          2 s
//            pod not ready, other template       Starting       SpecChanged, new pod, new budget     2 s
//            pod not ready, time is over         Failed         StartupTimeout            until the next restart
//            Service without an address          Starting       ServiceAddressPending                2 s
//            RCON refuses                        Starting       RconNotReachable                     2 s
//            RCON refuses, time is over          Failed         ReadinessTimeout          until the next restart
//            RCON refuses, was Running           Running        until the third miss in a row       10 s
//            Failed by time, restart is due      Starting       AutoRestart, new pod                 2 s
//            RCON answers (or is off)            Running        counted every 30 s and at the idle deadline
//            empty for the whole idle time       Running        asks for Stopped
//   Stopped  nothing is left                     Stopped        (Failed InvalidSpec when it cannot be built)
//            set at zero, pod still there        Stopping                                            5 s
//            players on, nobody told yet         Running        told, StopNotice                    30 s
//            told, time not over                 Running                                             rest of it
//            all else                            Stopping       then saved and scaled down
//
// Nothing leads to Unknown: it is what readers see of a server that no pass has touched yet.

const whenRunning: readonly Rule[] = [
  maintenanceHold,
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

const whenStopped: readonly Rule[] = [atRest, podLeaving, noticeFirst, noticeRuns, beginStop, scaleDown];

/** The one answer to what was observed. Pure: the clock and everything else comes in, effects come out. */
export function decide(observed: Observed, now: number): Plan {
  const isWanted = wantsToRun(observed.server);
  const rules = isWanted ? whenRunning : whenStopped;
  for (const rule of rules) {
    const plan = rule(observed, now);
    if (plan) return isWanted ? callOff(observed, plan) : plan;
  }
  throw new Error("no rule answers; the last one of a list always does");
}

/** A start within the notice: the stop is called off, whatever else the pass does. */
function callOff(observed: Observed, plan: Plan): Plan {
  if (observed.status.stopNoticeAt === undefined) return plan;
  const { stopNoticeAt: _gone, ...status } = plan.status;
  const tell: Effect = { kind: "tell-players", message: "stop-cancelled" };
  return { ...plan, status, effects: [tell, ...plan.effects] };
}
