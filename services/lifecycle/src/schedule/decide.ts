// What happens to one task, by its row, its server and the time (behaviour.md i.3). Pure.
//
// At rest a task waits, warns, is missed or is claimed. A run then goes
//   claimed -> done                              command, stop, start
//   claimed -> stopping -> starting -> done      restart
//   claimed -> stopping -> backing_up [-> starting] -> done    backup; starting when the run stopped the server
// `claimed` may have acted already, so a run that is left in it fails; every other state is carried on by any replica.

import { MinecraftServer } from "@svc/proto";
import { type Server, wantsToRun } from "../cluster/resource.ts";
import { nextRun } from "./next-run.ts";
import { endWith, finish, isOver, type Observed, rest, runKeyOf, type Plan } from "./plan.ts";
import type { ScheduleSettings } from "./row.ts";

const minuteMs = 60_000;

/** On a server that a run stopped: the run's key, written with the stop, so that a start by somebody else is seen. */
export const stoppedBy = `${MinecraftServer.group}/stopped-by-run`;

/** One look at a task: carries a run on, or sees whether one is due. */
export function decide(look: Observed): Plan {
  return look.row.run_state === "" ? decideAtRest(look) : advance(look);
}

type Rule = (look: Observed) => Plan | undefined;

const rulesAtRest: readonly Rule[] = [notEnabled, ofDeletedServer, ofFormerOwner, notYet, tooLate, due];

export function decideAtRest(look: Observed): Plan {
  return firstOf(rulesAtRest, look);
}

function firstOf(rules: readonly Rule[], look: Observed): Plan {
  for (const rule of rules) {
    const step = rule(look);
    if (step) return step;
  }
  return rest;
}

function notEnabled({ row }: Observed): Plan | undefined {
  return row.enabled && row.next_run_at ? undefined : rest;
}

function ofDeletedServer({ owner }: Observed): Plan | undefined {
  return owner === undefined ? { kind: "disable", detail: "The server was deleted." } : undefined;
}

function ofFormerOwner({ row, owner }: Observed): Plan | undefined {
  if (owner === row.owner_id) return undefined;
  return { kind: "disable", detail: "The server has a new owner; save it again to switch it on." };
}

function notYet(look: Observed): Plan | undefined {
  const { row, now } = look;
  const due = row.next_run_at?.getTime() ?? 0;
  if (now >= due) return undefined;
  const isToWarn =
    row.warn_minutes > 0 &&
    now >= due - row.warn_minutes * minuteMs &&
    row.warned_for?.getTime() !== due &&
    isReady(look.server);
  return isToWarn ? { kind: "warn", minutes: Math.ceil((due - now) / minuteMs) } : rest;
}

function tooLate(look: Observed): Plan | undefined {
  const { row, now, settings } = look;
  if (now - (row.next_run_at?.getTime() ?? 0) <= settings.schedule_missed_after) return undefined;
  return { kind: "miss", next: nextOf(look), detail: "svc was not running at the scheduled time." };
}

function due(look: Observed): Plan {
  return { kind: "claim", next: nextOf(look) };
}

export function nextOf({ row, now }: { row: ScheduleSettings; now: number }): number {
  const { every_minutes: everyMinutes, minute_of_day: minuteOfDay, weekdays, timezone } = row;
  return nextRun({ everyMinutes, minuteOfDay, weekdays, timezone }, now);
}

/** Accepts commands: it runs and its last probe was answered. */
export function isReady(server: Server | undefined): boolean {
  return server?.status?.phase === "Running" && server.status.ready === true;
}

const gone = finish("skipped", "The server does not exist any more.");

/** The first step of a run that was just claimed. */
export function begin({ row, server }: Observed): Plan {
  if (!server) return gone;
  const isRunning = wantsToRun(server);
  switch (row.action) {
    case "command":
      return isReady(server) ? { kind: "command" } : finish("skipped", "The server was not running.");
    case "stop":
      return isRunning ? { kind: "stop" } : finish("skipped", "The server was not running.");
    case "start": {
      const isFine = isRunning && server.status?.phase !== "Failed";
      return isFine ? finish("skipped", "The server was running already.") : { kind: "start" };
    }
    case "restart":
      if (!isRunning) return finish("skipped", "The server was not running.");
      // Written before the server is stopped: a run that ends here is known to owe it a start.
      return { kind: "enter", state: "stopping", isResumed: true };
    case "backup":
      // Asked while the server still runs: what cannot be backed up must not put its players out first.
      return isRunning ? { kind: "ask-backup" } : { kind: "enter", state: "stopping", isResumed: false };
  }
}

function advance(look: Observed): Plan {
  const { row, server, settings } = look;
  switch (row.run_state) {
    case "":
      return rest;
    case "claimed":
      return isOver(look, settings.schedule_claim_patience)
        ? finish("failed", "svc was stopped in the middle of this run.")
        : rest;
    case "stopping":
      return server ? whileStopping(look, server) : gone;
    case "backing_up":
      return { kind: "read-backup" };
    case "starting":
      return server ? { kind: "start" } : gone;
  }
}

function whileStopping(look: Observed, server: Server): Plan {
  const { row, settings } = look;
  if (wantsToRun(server)) {
    const isStartedAgain = !row.run_resume || server.metadata.annotations?.[stoppedBy] === runKeyOf(row);
    return isStartedAgain ? finish("skipped", "Someone started the server.") : { kind: "stop" };
  }
  if (server.status?.phase === "Stopped") {
    return row.action === "backup"
      ? { kind: "ask-backup" }
      : { kind: "enter", state: "starting", isResumed: true };
  }
  if (!isOver(look, settings.schedule_stop_wait)) return rest;
  return endWith(look, { result: "failed", detail: "The server did not stop in time." });
}
