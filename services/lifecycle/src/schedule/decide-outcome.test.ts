import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { schedules } from "@svc/proto";
import { anObservedTask, aRun, stopped } from "../testing/schedule/observed-schedule.ts";
import {
  type Answer,
  decideAfterBackupCheck,
  decideAfterBackupRequest,
  decideAfterStart,
} from "./decide-outcome.ts";
import type { Observed } from "./observed.ts";
import type { Ending, Plan } from "./plan.ts";
import type { ScheduleRow } from "./row.ts";

const rest: Plan = { kind: "rest" };
const run = (action: ScheduleRow["action"]) => aRun({ action });
type RunCode = schedules.RunCode;
/** How a run ended that was refused. */
const failed = (detail: string, code: RunCode, cause?: string) =>
  ({ result: "failed", detail, code, ...(cause && { cause }) }) as const;
const notStarted = (cause: string, result: "skipped" | "failed" = "skipped"): Plan => ({
  ...{ kind: "finish", result, detail: "No.", code: "start_refused", cause },
});
const enterStopping = (startsAgain: boolean): Plan => ({ kind: "enter", state: "stopping", startsAgain });
const backup = (since: number, startsAgain = true) =>
  aRun({ action: "backup", run_state: "stopping", run_resume: startsAgain }, since);
const resumeAfter = (pendingEnding: Ending): Plan => ({
  kind: "enter",
  state: "starting",
  startsAgain: true,
  pendingEnding,
});

const done: Answer<void> = { kind: "done", value: undefined };
const refused = (fault: Extract<Answer<unknown>, { kind: "refused" }>["fault"], message = "No.") =>
  ({ kind: "refused", fault, message }) as const;
const resumed = (since: number, changes: Partial<ScheduleRow> = {}) =>
  anObservedTask({
    row: aRun({ run_state: "starting", run_resume: true, ...changes }, since),
    server: stopped,
  });
const first = anObservedTask({ row: run("start"), server: stopped });
const again = "The server could not be started again: No.";
const lost = {
  last_result: "failed",
  last_detail: "The backup took too long.",
  last_code: "backup_late",
} as const;

describe("a requested start", () => {
  const table: [fact: string, observed: Observed, answer: Answer<void>, plan: Plan][] = [
    ["ends the run", first, done, { kind: "finish", result: "ok", detail: "" }],
    ["is skipped when the capacity is used up", first, refused("at_capacity"), notStarted("at_capacity")],
    [
      "is skipped while the world is locked",
      first,
      refused("maintenance_in_progress"),
      notStarted("maintenance_in_progress"),
    ],
    [
      "is skipped during a maintenance window",
      first,
      refused("maintenance_window"),
      notStarted("maintenance_window"),
    ],
    [
      "is skipped while the world is archived",
      first,
      refused("world_reclaiming"),
      notStarted("world_reclaiming"),
    ],
    [
      "is skipped when the server is given up",
      first,
      refused("server_retiring"),
      notStarted("server_retiring"),
    ],
    ["fails when the cluster is away", first, refused("unavailable"), notStarted("unavailable", "failed")],
    ["ends a restart well", resumed(0), done, { kind: "finish", result: "ok", detail: "" }],
    [
      "ends a failed run with its own detail",
      resumed(0, lost),
      done,
      { kind: "finish", ...failed(lost.last_detail, "backup_late") },
    ],
    ["is retried while the capacity is used up", resumed(15), refused("at_capacity"), rest],
    ["is retried while the world is locked", resumed(15), refused("maintenance_in_progress"), rest],
    ["is retried while the cluster is away", resumed(15), refused("unavailable"), rest],
    [
      "fails after a quarter of an hour",
      resumed(15.1),
      refused("at_capacity"),
      { kind: "finish", ...failed(again, "start_refused", "at_capacity") },
    ],
    [
      "fails at once when the server is given up",
      resumed(0),
      refused("server_retiring"),
      { kind: "finish", ...failed(again, "start_refused", "server_retiring") },
    ],
    [
      "adds its failure to the one before",
      resumed(16, lost),
      refused("at_capacity"),
      { kind: "finish", ...failed(`${lost.last_detail} ${again}`, "start_refused", "at_capacity") },
    ],
  ];
  for (const [fact, observed, answer, plan] of table) {
    test(fact, () => assert.deepEqual(decideAfterStart(observed, answer), plan));
  }
});

const finished = (ending: Ending): Plan => ({ kind: "finish", ...ending });
const asFirst = anObservedTask({ row: run("backup") });
const waiting = (since: number, startsAgain = true) =>
  anObservedTask({ row: backup(since, startsAgain), server: stopped });

describe("a requested backup", () => {
  const job: Answer<{ job: string }> = { kind: "done", value: { job: "backup-survival-1" } };
  const away = refused("unavailable", "A part of the service is unavailable; try again in a moment.");
  const nobody = "No backup was made: the backup service is not responding.";
  const table: [fact: string, observed: Observed, answer: Answer<{ job: string }>, plan: Plan][] = [
    ["of a running server has it stopped first", asFirst, refused("not_stopped"), enterStopping(true)],
    [
      "fails before anybody is put out when storage does not answer",
      asFirst,
      away,
      finished(failed(nobody, "backup_refused", "unavailable")),
    ],
    [
      "fails before anybody is put out when the store is full",
      asFirst,
      refused("backup_store_full"),
      finished(failed("No backup was made: No.", "backup_refused", "backup_store_full")),
    ],
    [
      "is skipped without a world",
      asFirst,
      refused("no_world_volume"),
      finished({ ...failed("No.", "backup_refused", "no_world_volume"), result: "skipped" }),
    ],
    [
      "is waited for once it began",
      waiting(1),
      job,
      { kind: "enter", state: "backing_up", startsAgain: true, job: "backup-survival-1" },
    ],
    ["waits while the world is busy", waiting(15), refused("restore_in_progress"), rest],
    ["waits while the server is not quite stopped", waiting(15), refused("not_stopped"), rest],
    ["waits for storage when the server was stopped for it", waiting(15), away, rest],
    [
      "does not wait for storage when nothing was stopped",
      waiting(0, false),
      away,
      finished(failed(nobody, "backup_refused", "unavailable")),
    ],
    [
      "fails after a quarter of an hour and starts the server again",
      waiting(15.1),
      refused("maintenance_in_progress"),
      resumeAfter(failed("No backup was made: No.", "backup_refused", "maintenance_in_progress")),
    ],
    [
      "fails at a full store and starts the server again",
      waiting(1),
      refused("backup_store_full"),
      resumeAfter(failed("No backup was made: No.", "backup_refused", "backup_store_full")),
    ],
  ];
  for (const [fact, observed, answer, plan] of table) {
    test(fact, () => assert.deepEqual(decideAfterBackupRequest(observed, answer), plan));
  }
});

describe("a backup under way", () => {
  const under = (since: number, startsAgain = false) =>
    anObservedTask({
      row: aRun({ action: "backup", run_state: "backing_up", run_job: "b", run_resume: startsAgain }, since),
      server: stopped,
    });
  const state = (state: "running" | "succeeded" | "failed", message?: string) =>
    ({ kind: "done", value: { state, message } }) as const;
  const table: [
    fact: string,
    observed: Observed,
    answer: Parameters<typeof decideAfterBackupCheck>[1],
    plan: Plan,
  ][] = [
    ["is waited for", under(45), state("running"), rest],
    [
      "ends the run of a server that was stopped anyway",
      under(1),
      state("succeeded"),
      finished({ result: "ok", detail: "" }),
    ],
    [
      "starts the server again",
      under(1, true),
      state("succeeded"),
      { kind: "enter", state: "starting", startsAgain: true, pendingEnding: { result: "ok", detail: "" } },
    ],
    [
      "says when it is not all of the world",
      under(1),
      state("succeeded", "left out 1: a link"),
      finished({ result: "ok", detail: "left out 1: a link", code: "backup_incomplete" }),
    ],
    [
      "counts as made however late that is seen",
      under(300),
      state("succeeded"),
      finished({ result: "ok", detail: "" }),
    ],
    [
      "fails with what storage says",
      under(1),
      state("failed", "The disk is full."),
      finished(failed("The disk is full.", "backup_failed")),
    ],
    [
      "takes too long after three quarters of an hour",
      under(45.1, true),
      state("running"),
      resumeAfter(failed("The backup took too long.", "backup_late")),
    ],
    ["that storage does not know may still appear", under(2), refused("not_found"), rest],
    [
      "that storage does not know after two minutes was never started",
      under(2.1),
      refused("not_found"),
      finished(failed("The backup was never started.", "backup_not_started")),
    ],
    ["is waited for while storage is away", under(45), refused("unavailable"), rest],
    [
      "has failed when storage stays away",
      under(45.1),
      refused("unavailable"),
      finished(failed("The backup took too long.", "backup_late")),
    ],
  ];
  for (const [fact, observed, answer, plan] of table) {
    test(fact, () => assert.deepEqual(decideAfterBackupCheck(observed, answer), plan));
  }
});
