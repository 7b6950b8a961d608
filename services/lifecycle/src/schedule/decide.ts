// What happens next to one task, by its row, its server and the time (docs/reference/schedules.md#run). Pure.
//
// At rest a task waits, warns players, is missed, disabled or claimed. The states of a run:
//   claimed -> done                                            command, stop, start
//   claimed -> stopping -> starting -> done                    restart
//   claimed -> stopping -> backing_up [-> starting] -> done    backup; starting when the run stopped the server
// Where a step of a chain is done and another follows, the run waits, claimed, until that one begins.
// A run left in `claimed` fails, because its action may have been carried out; any replica continues every other state.

import { MinecraftServer } from "@svc/proto";
import { type Server, wantsToRun } from "../cluster/resource.ts";
import { decideEnd, isUnmet, stepOf } from "./chain.ts";
import { nextRun } from "./next-run.ts";
import { isOver, type Observed, runKeyOf } from "./observed.ts";
import { endWith, finish, type Plan, rest } from "./plan.ts";
import type { ScheduleSettings } from "./row.ts";

const minuteMs = 60_000;

/** On a server that a run stopped: the run's key, written with the stop, so that a start by somebody else is noticed. */
export const stoppedBy = `${MinecraftServer.group}/stopped-by-run`;

/** Continues a run, or checks whether one is due. */
export function decide(observed: Observed): Plan {
  return observed.row.run_state === "" ? decideAtRest(observed) : decideRun(observed);
}

type Rule = (observed: Observed) => Plan | undefined;

const rulesAtRest: readonly Rule[] = [notEnabled, serverDeleted, ownerChanged, notDue, missed, due];

function decideAtRest(observed: Observed): Plan {
  return firstOf(rulesAtRest, observed);
}

function firstOf(rules: readonly Rule[], observed: Observed): Plan {
  for (const rule of rules) {
    const plan = rule(observed);
    if (plan) return plan;
  }
  return rest;
}

function notEnabled({ row }: Observed): Plan | undefined {
  // What has a trigger does not run by the clock.
  return row.enabled && row.next_run_at && row.trigger === "" ? undefined : rest;
}

export const deleted = { code: "server_deleted", detail: "The server was deleted." } as const;
export const changedOwner = {
  code: "owner_changed",
  detail: "The server has a new owner; save it again to switch it on.",
} as const;

function serverDeleted({ owner }: Observed): Plan | undefined {
  return owner === undefined ? { kind: "disable", ...deleted } : undefined;
}

function ownerChanged({ row, owner }: Observed): Plan | undefined {
  return owner === row.owner_id ? undefined : { kind: "disable", ...changedOwner };
}

function notDue(observed: Observed): Plan | undefined {
  const { row, now } = observed;
  const due = row.next_run_at?.getTime() ?? 0;
  if (now >= due) return undefined;
  const isToWarn =
    row.warn_minutes > 0 &&
    now >= due - row.warn_minutes * minuteMs &&
    row.warned_for?.getTime() !== due &&
    isReady(observed.server) &&
    // Of what will not be done nobody is warned.
    !isUnmet(observed);
  return isToWarn ? { kind: "warn", minutes: Math.ceil((due - now) / minuteMs) } : rest;
}

function missed(observed: Observed): Plan | undefined {
  const { row, now, settings } = observed;
  if (now - (row.next_run_at?.getTime() ?? 0) <= settings.schedule_missed_after) return undefined;
  const detail = "svc was not running at the scheduled time.";
  return { kind: "miss", next: nextOf(observed), code: "svc_was_down", detail };
}

function due(observed: Observed): Plan {
  return { kind: "claim", next: nextOf(observed) };
}

export function nextOf({ row, now }: { row: Timing; now: number }): number {
  const { every_minutes: everyMinutes, minute_of_day: minuteOfDay, weekdays, timezone } = row;
  return nextRun({ everyMinutes, minuteOfDay, weekdays, timezone }, now);
}

type Timing = Pick<ScheduleSettings, "every_minutes" | "minute_of_day" | "weekdays" | "timezone">;

/** Accepts commands: it is running and its last probe succeeded. */
function isReady(server: Server | undefined): boolean {
  return server?.status?.phase === "Running" && server.status.ready === true;
}

const serverGone = finish("skipped", "The server does not exist any more.", "server_gone");

const notRunning = finish("skipped", "The server was not running.", "server_not_running");

const unmet: Plan = {
  ...{ kind: "finish", result: "skipped" },
  ...{ detail: "Its condition was not met.", chain_code: "condition_not_met" },
};

/** The first plan of a step that was just claimed. */
export function decideClaimed(observed: Observed): Plan {
  const { row, server } = observed;
  if (!server) return serverGone;
  if (isUnmet(observed)) return unmet;
  const isRunning = wantsToRun(server);
  switch (stepOf(row).action) {
    case "command":
      return isReady(server) ? { kind: "command" } : notRunning;
    case "stop":
      return isRunning ? { kind: "stop" } : notRunning;
    case "start": {
      const isFine = isRunning && server.status?.phase !== "Failed";
      return isFine
        ? finish("skipped", "The server was running already.", "server_running")
        : { kind: "start" };
    }
    case "restart":
      if (!isRunning) return notRunning;
      // Written before the server is stopped: a run that dies here is known to owe it a start.
      return { kind: "enter", state: "stopping", startsAgain: true };
    case "backup":
      // Asked while the server still runs: players must not be disconnected for a backup that cannot be made.
      return isRunning ? { kind: "ask-backup" } : { kind: "enter", state: "stopping", startsAgain: false };
  }
}

function decideRun(observed: Observed): Plan {
  const { row, server, settings } = observed;
  if (row.run_waits) return firstOf(rulesBetweenSteps, observed);
  switch (row.run_state) {
    case "":
      return rest;
    case "claimed":
      return isOver(observed, settings.schedule_claim_patience)
        ? finish("failed", "svc was stopped in the middle of this run.", "svc_interrupted")
        : rest;
    case "stopping":
      return server ? decideStopping(observed, server) : serverGone;
    case "backing_up":
      return { kind: "read-backup" };
    case "starting":
      return server ? { kind: "start" } : serverGone;
  }
}

const rulesBetweenSteps: readonly Rule[] = [
  revoked,
  deletedMeanwhile,
  ownedByOther,
  notYet,
  stillStarting,
  late,
  stepDue,
];

function revoked({ row }: Observed): Plan | undefined {
  if (!row.run_revoked) return undefined;
  const detail = "Whoever saved it has no access any more.";
  return decideEnd(row, { result: "skipped", chain_code: "run_cancelled", detail });
}

function deletedMeanwhile({ row, owner }: Observed): Plan | undefined {
  return owner === undefined ? decideEnd(row, { result: "skipped", ...deleted }) : undefined;
}

function ownedByOther({ row, owner }: Observed): Plan | undefined {
  return owner === row.owner_id ? undefined : decideEnd(row, { result: "skipped", ...changedOwner });
}

function notYet({ row, now }: Observed): Plan | undefined {
  return now < (row.run_step_at?.getTime() ?? 0) ? rest : undefined;
}

/** A command behind a start or restart is for the server that has started. */
function stillStarting(observed: Observed): Plan | undefined {
  const { row, server, settings } = observed;
  const isStarting =
    server !== undefined && wantsToRun(server) && !isReady(server) && server.status?.phase !== "Failed";
  const mayWait = stepOf(row).action === "command" && !isOver(observed, settings.schedule_start_wait);
  return isStarting && mayWait ? rest : undefined;
}

function late(observed: Observed): Plan | undefined {
  if (!isOver(observed, observed.settings.schedule_start_wait)) return undefined;
  const detail = "The step could not begin in time, so the rest of the run was left out.";
  return decideEnd(observed.row, { result: "missed", chain_code: "step_late", detail });
}

function stepDue(): Plan {
  return { kind: "begin-step" };
}

function decideStopping(observed: Observed, server: Server): Plan {
  const { row, settings } = observed;
  if (wantsToRun(server)) {
    const isStartedByOther = !row.run_resume || server.metadata.annotations?.[stoppedBy] === runKeyOf(row);
    return isStartedByOther
      ? finish("skipped", "Someone started the server.", "started_by_somebody")
      : { kind: "stop" };
  }
  if (server.status?.phase === "Stopped") {
    return stepOf(row).action === "backup"
      ? { kind: "ask-backup" }
      : { kind: "enter", state: "starting", startsAgain: true };
  }
  if (!isOver(observed, settings.schedule_stop_wait)) return rest;
  return endWith(observed, {
    result: "failed",
    detail: "The server did not stop in time.",
    code: "stop_late",
  });
}
