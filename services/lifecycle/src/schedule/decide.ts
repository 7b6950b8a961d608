// What happens next to one task, by its row, its server and the time (docs/reference/schedules.md#run). Pure.
//
// At rest a task waits, warns players, is missed, disabled or claimed. The states of a run:
//   claimed -> done                                            command, stop, start
//   claimed -> stopping -> starting -> done                    restart
//   claimed -> stopping -> backing_up [-> starting] -> done    backup; starting when the run stopped the server
// A run left in `claimed` fails, because its action may have been carried out; any replica continues every other state.

import { MinecraftServer } from "@svc/proto";
import { type Server, wantsToRun } from "../cluster/resource.ts";
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
  return row.enabled && row.next_run_at ? undefined : rest;
}

function serverDeleted({ owner }: Observed): Plan | undefined {
  return owner === undefined
    ? { kind: "disable", code: "server_deleted", detail: "The server was deleted." }
    : undefined;
}

function ownerChanged({ row, owner }: Observed): Plan | undefined {
  if (owner === row.owner_id) return undefined;
  const detail = "The server has a new owner; save it again to switch it on.";
  return { kind: "disable", code: "owner_changed", detail };
}

function notDue(observed: Observed): Plan | undefined {
  const { row, now } = observed;
  const due = row.next_run_at?.getTime() ?? 0;
  if (now >= due) return undefined;
  const isToWarn =
    row.warn_minutes > 0 &&
    now >= due - row.warn_minutes * minuteMs &&
    row.warned_for?.getTime() !== due &&
    isReady(observed.server);
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

export function nextOf({ row, now }: { row: ScheduleSettings; now: number }): number {
  const { every_minutes: everyMinutes, minute_of_day: minuteOfDay, weekdays, timezone } = row;
  return nextRun({ everyMinutes, minuteOfDay, weekdays, timezone }, now);
}

/** Accepts commands: it is running and its last probe succeeded. */
function isReady(server: Server | undefined): boolean {
  return server?.status?.phase === "Running" && server.status.ready === true;
}

const serverGone = finish("skipped", "The server does not exist any more.", "server_gone");

const notRunning = finish("skipped", "The server was not running.", "server_not_running");

/** The first plan of a run that was just claimed. */
export function decideClaimed({ row, server }: Observed): Plan {
  if (!server) return serverGone;
  const isRunning = wantsToRun(server);
  switch (row.action) {
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

function decideStopping(observed: Observed, server: Server): Plan {
  const { row, settings } = observed;
  if (wantsToRun(server)) {
    const isStartedByOther = !row.run_resume || server.metadata.annotations?.[stoppedBy] === runKeyOf(row);
    return isStartedByOther
      ? finish("skipped", "Someone started the server.", "started_by_somebody")
      : { kind: "stop" };
  }
  if (server.status?.phase === "Stopped") {
    return row.action === "backup"
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
