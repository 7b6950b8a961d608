// What an answer means for a run (behaviour.md i.3). Pure: the answer and the look in, the next step out.

import { type FaultName, faults } from "@svc/proto";
import { type Ending, endWith, finish, isOver, type Observed, rest, type Plan } from "./plan.ts";

/** How a request ended: it was done, or refused by name and with words. */
export type Answer<T> = { kind: "done"; value: T } | { kind: "refused"; fault: FaultName; message: string };

// What may be otherwise in a minute: the cap, a world that is held, a part that does not answer.
const passing: ReadonlySet<FaultName> = new Set([
  "at_capacity",
  "maintenance_in_progress",
  "world_reclaiming",
  "unavailable",
  "overloaded",
]);
// What is no failure of a scheduled start: the server may not start just now.
const inTheWay: ReadonlySet<FaultName> = new Set([
  "at_capacity",
  "maintenance_in_progress",
  "world_reclaiming",
  "server_retiring",
]);
// What ends by itself while a server comes to rest.
const busy: ReadonlySet<FaultName> = new Set([
  "not_stopped",
  "maintenance_in_progress",
  "restore_in_progress",
]);

/** A start was asked for: as the whole run, or as the end of one that stopped the server. */
export function decideAfterStart(look: Observed, answer: Answer<unknown>): Plan {
  const { row, settings } = look;
  const carried: Ending = { result: row.last_result || "ok", detail: row.last_detail };
  if (answer.kind === "done") return finish(carried.result, carried.detail);
  const { fault, message } = answer;
  if (row.run_state === "claimed") return finish(inTheWay.has(fault) ? "skipped" : "failed", message);
  if (passing.has(fault) && !isOver(look, settings.schedule_start_wait)) return rest;
  const words = `The server could not be started again: ${message}`;
  return finish("failed", carried.result === "failed" ? `${carried.detail} ${words}` : words);
}

/** Storage was asked for a backup: before a running server is stopped, or once it is. */
export function decideAfterBackupRequest(look: Observed, answer: Answer<{ job: string }>): Plan {
  const { row, settings } = look;
  const isFirst = row.run_state === "claimed";
  if (answer.kind === "done") {
    return { kind: "enter", state: "backing_up", isResumed: row.run_resume, job: answer.value.job };
  }
  const { fault } = answer;
  if (isFirst && busy.has(fault)) return { kind: "enter", state: "stopping", isResumed: true };
  // A server that was stopped for this waits for storage; one that was at rest anyway loses nothing.
  const mayWait = busy.has(fault) || (row.run_resume && passing.has(fault));
  if (mayWait && !isOver(look, settings.schedule_stop_wait)) return rest;
  if (fault === "no_world_volume") return endWith(look, { result: "skipped", detail: answer.message });
  return endWith(look, { result: "failed", detail: `No backup was made: ${wordsOf(answer)}` });
}

/** The text of a part that is away does not say which one. */
function wordsOf({ fault, message }: { fault: FaultName; message: string }): string {
  const isAway = fault === "unavailable" && message === faults.unavailable.message;
  return isAway ? "the backup service does not answer." : message;
}

export type BackupRun = { state: "running" | "succeeded" | "failed"; message?: string | undefined };

/** Storage was asked how a backup stands. */
export function decideAfterBackupCheck(look: Observed, answer: Answer<BackupRun>): Plan {
  const { settings } = look;
  if (answer.kind === "done" && answer.value.state !== "running") {
    const { state, message = "" } = answer.value;
    if (state === "succeeded") return endWith(look, { result: "ok", detail: message });
    return endWith(look, { result: "failed", detail: message || "The backup failed." });
  }
  if (answer.kind === "refused" && answer.fault === "not_found") {
    const isLost = isOver(look, settings.schedule_backup_appear);
    return isLost ? endWith(look, { result: "failed", detail: "The backup was never started." }) : rest;
  }
  if (!isOver(look, settings.schedule_backup_wait)) return rest;
  return endWith(look, { result: "failed", detail: "The backup took too long." });
}
