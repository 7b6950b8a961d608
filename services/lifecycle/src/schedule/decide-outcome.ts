// What the outcome of a request means for a run (docs/reference/schedules.md#run). Pure: observation and answer in, plan out.

import { type FaultName, faults } from "@svc/proto";
import { isOver, type Observed } from "./observed.ts";
import { type Ending, endWith, type Plan, rest } from "./plan.ts";

/** How a request ended. */
export type Answer<T> = { kind: "done"; value: T } | { kind: "refused"; fault: FaultName; message: string };

// What may clear up within a minute: capacity, a locked world, a service that does not respond.
const transient: ReadonlySet<FaultName> = new Set([
  "at_capacity",
  "maintenance_in_progress",
  "world_reclaiming",
  "unavailable",
  "overloaded",
]);
// Not a failure of a scheduled start: the server may not start right now.
const blocking: ReadonlySet<FaultName> = new Set([
  "at_capacity",
  "maintenance_window",
  "maintenance_in_progress",
  "world_reclaiming",
  "server_retiring",
]);
// What ends by itself while a server stops.
const busy: ReadonlySet<FaultName> = new Set([
  "not_stopped",
  "maintenance_in_progress",
  "restore_in_progress",
]);

/** After a start request: the whole run, or the end of one that stopped the server. */
export function decideAfterStart(observed: Observed, answer: Answer<unknown>): Plan {
  const { row, settings } = observed;
  const ending = pendingEnding(row);
  if (answer.kind === "done") return { kind: "finish", ...ending };
  const { fault, message } = answer;
  const refused = { kind: "finish", code: "start_refused", cause: fault } as const;
  if (row.run_state === "claimed") {
    return { ...refused, result: blocking.has(fault) ? "skipped" : "failed", detail: message };
  }
  if (transient.has(fault) && !isOver(observed, settings.schedule_start_wait)) return rest;
  const problem = `The server could not be started again: ${message}`;
  const detail = ending.result === "failed" ? `${ending.detail} ${problem}` : problem;
  return { ...refused, result: "failed", detail };
}

/** How a run ends once its server has been started again. */
function pendingEnding({ last_result, last_detail, last_code, last_cause }: Observed["row"]): Ending {
  return {
    result: last_result || "ok",
    detail: last_detail,
    ...(last_code !== "" && { code: last_code }),
    ...(last_cause !== "" && { cause: last_cause }),
  };
}

/** After a backup request to storage, sent before a running server is stopped or once it has stopped. */
export function decideAfterBackupRequest(observed: Observed, answer: Answer<{ job: string }>): Plan {
  const { row, settings } = observed;
  const isFirst = row.run_state === "claimed";
  if (answer.kind === "done") {
    return { kind: "enter", state: "backing_up", startsAgain: row.run_resume, job: answer.value.job };
  }
  const { fault } = answer;
  if (isFirst && busy.has(fault)) return { kind: "enter", state: "stopping", startsAgain: true };
  // Only a run that stopped its server waits for storage; without that, nothing is lost by failing now.
  const mayWait = busy.has(fault) || (row.run_resume && transient.has(fault));
  if (mayWait && !isOver(observed, settings.schedule_stop_wait)) return rest;
  const refused = { code: "backup_refused", cause: fault } as const;
  if (fault === "no_world_volume") {
    return endWith(observed, { ...refused, result: "skipped", detail: answer.message });
  }
  return endWith(observed, {
    ...refused,
    result: "failed",
    detail: `No backup was made: ${problemOf(answer)}`,
  });
}

/** The message of `unavailable` does not say which service. */
function problemOf({ fault, message }: { fault: FaultName; message: string }): string {
  const isAway = fault === "unavailable" && message === faults.unavailable.message;
  return isAway ? "the backup service is not responding." : message;
}

type BackupRun = { state: "running" | "succeeded" | "failed"; message?: string | undefined };

/** After a question to storage for the state of a backup. */
export function decideAfterBackupCheck(observed: Observed, answer: Answer<BackupRun>): Plan {
  const { settings } = observed;
  if (answer.kind === "done" && answer.value.state !== "running") {
    const { state, message = "" } = answer.value;
    if (state === "succeeded") {
      const partial = message === "" ? {} : ({ code: "backup_incomplete" } as const);
      return endWith(observed, { result: "ok", detail: message, ...partial });
    }
    const detail = message || "The backup failed.";
    return endWith(observed, { result: "failed", detail, code: "backup_failed" });
  }
  if (answer.kind === "refused" && answer.fault === "not_found") {
    const isLost = isOver(observed, settings.schedule_backup_appear);
    if (!isLost) return rest;
    const detail = "The backup was never started.";
    return endWith(observed, { result: "failed", detail, code: "backup_not_started" });
  }
  if (!isOver(observed, settings.schedule_backup_wait)) return rest;
  return endWith(observed, { result: "failed", detail: "The backup took too long.", code: "backup_late" });
}
