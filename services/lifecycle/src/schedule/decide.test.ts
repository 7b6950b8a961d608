import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { schedules } from "@svc/proto";
import {
  anObservedTask,
  aRow,
  aRun,
  claimedAt,
  due,
  failed,
  minute,
  ready,
  starting,
  stopped,
  stopping,
} from "../testing/schedule/observed-schedule.ts";
import { decide, decideClaimed, stoppedBy } from "./decide.ts";
import { type Observed, runKeyOf } from "./observed.ts";
import type { Plan } from "./plan.ts";
import type { ScheduleRow } from "./row.ts";

type Fact = [fact: string, observed: Partial<Observed>, plan: Plan];

function facts(title: string, decideTask: (observed: Observed) => Plan, table: readonly Fact[]): void {
  describe(title, () => {
    for (const [fact, observed, plan] of table) {
      test(fact, () => assert.deepEqual(decideTask(anObservedTask(observed)), plan));
    }
  });
}

const rest: Plan = { kind: "rest" };
const tomorrow = due + 24 * 60 * minute;
const newOwner = "The server has a new owner; save it again to switch it on.";
const warned = aRow({ warn_minutes: 10 });

const wasDown = { code: "svc_was_down", detail: "svc was not running at the scheduled time." } as const;
type RunCode = schedules.RunCode;

facts("a task at rest", decide, [
  ["waits while it is disabled", { row: aRow({ enabled: false, next_run_at: null }), now: due }, rest],
  [
    "is switched off when the server is deleted",
    { owner: undefined, now: due },
    { kind: "disable", code: "server_deleted", detail: "The server was deleted." },
  ],
  [
    "is switched off when the server has a new owner",
    { owner: "usr-2", now: due },
    { kind: "disable", code: "owner_changed", detail: newOwner },
  ],
  [
    "is switched off when the server no longer has an owner",
    { owner: null },
    { kind: "disable", code: "owner_changed", detail: newOwner },
  ],
  [
    "is switched off rather than missed when both apply",
    { owner: null, now: due + 60 * minute },
    { kind: "disable", code: "owner_changed", detail: newOwner },
  ],
  [
    "of a server without an owner runs as long as it has none",
    { row: aRow({ owner_id: null }), owner: null, now: due },
    { kind: "claim", next: tomorrow },
  ],
  ["waits before it is due", {}, rest],
  [
    "warns when its minutes before have begun",
    { row: warned, now: due - 10 * minute },
    { kind: "warn", minutes: 10 },
  ],
  [
    "warns with the minutes that are left, rounded up",
    { row: warned, now: due - 9 * minute - 1 },
    { kind: "warn", minutes: 10 },
  ],
  ["does not warn earlier", { row: warned, now: due - 10 * minute - 1 }, rest],
  [
    "does not warn twice of the same run",
    { row: aRow({ warn_minutes: 10, warned_for: new Date(due) }), now: due - minute },
    rest,
  ],
  [
    "warns of this run although it warned of the one before",
    { row: aRow({ warn_minutes: 10, warned_for: new Date(due - 24 * 60 * minute) }) },
    { kind: "warn", minutes: 1 },
  ],
  ["warns nobody on a server that is not ready", { row: warned, server: starting }, rest],
  ["warns nobody on a server that is not there", { row: warned, server: undefined }, rest],
  [
    "is claimed at the moment it is due, and is due again tomorrow",
    { now: due },
    { kind: "claim", next: tomorrow },
  ],
  ["is claimed ten minutes late", { now: due + 10 * minute }, { kind: "claim", next: tomorrow }],
  [
    "is missed after ten minutes",
    { now: due + 10 * minute + 1 },
    { kind: "miss", next: tomorrow, ...wasDown },
  ],
  [
    "is missed once however many runs were",
    { row: aRow({ every_minutes: 60, minute_of_day: 0 }), now: due + 200 * minute },
    { kind: "miss", next: due + 240 * minute, ...wasDown },
  ],
]);

const run = (action: ScheduleRow["action"]) => aRun({ action });
const skipped = (code: RunCode, detail: string): Plan => ({
  kind: "finish",
  result: "skipped",
  detail,
  code,
});
const notRunning = skipped("server_not_running", "The server was not running.");
const gone = skipped("server_gone", "The server does not exist any more.");
const enterStopping = (startsAgain: boolean): Plan => ({ kind: "enter", state: "stopping", startsAgain });

facts("a claimed run", decideClaimed, [
  ["of a server that is gone is skipped", { row: run("restart"), server: undefined }, gone],
  ["sends its command to a server that is ready", { row: run("command") }, { kind: "command" }],
  ["skips a command while the server starts", { row: run("command"), server: starting }, notRunning],
  ["skips a command on a stopped server", { row: run("command"), server: stopped }, notRunning],
  ["stops a running server", { row: run("stop") }, { kind: "stop" }],
  ["stops a server that starts", { row: run("stop"), server: starting }, { kind: "stop" }],
  ["skips a stop of a stopped server", { row: run("stop"), server: stopped }, notRunning],
  ["starts a stopped server", { row: run("start"), server: stopped }, { kind: "start" }],
  ["starts a failed server again", { row: run("start"), server: failed }, { kind: "start" }],
  [
    "skips a start of a running server",
    { row: run("start") },
    skipped("server_running", "The server was running already."),
  ],
  [
    "notes that the server is owed a start before a restart stops it",
    { row: run("restart") },
    enterStopping(true),
  ],
  ["skips a restart of a stopped server", { row: run("restart"), server: stopped }, notRunning],
  [
    "asks for a backup before a running server is stopped for it",
    { row: run("backup") },
    { kind: "ask-backup" },
  ],
  [
    "backs a stopped server up without a start afterwards",
    { row: run("backup"), server: stopped },
    enterStopping(false),
  ],
]);

const restart = (since: number) => aRun({ run_state: "stopping", run_resume: true }, since);
const backup = (since: number, startsAgain = true) =>
  aRun({ action: "backup", run_state: "stopping", run_resume: startsAgain }, since);
const annotated = (server: typeof ready, key: string) => ({
  ...server,
  metadata: { ...server.metadata, annotations: { [stoppedBy]: key } },
});
const mine = runKeyOf({ id: 7, last_run_at: claimedAt, run_step: 0 });
const late = { detail: "The server did not stop in time.", code: "stop_late" } as const;
const resumeAfter = (why: typeof late): Plan => ({
  kind: "enter",
  state: "starting",
  startsAgain: true,
  pendingEnding: { result: "failed", ...why },
});

facts("a run under way", decide, [
  ["that was claimed a moment ago is left to who claimed it", { row: aRun({}, 2) }, rest],
  [
    "that was claimed over two minutes ago and took no step has failed",
    { row: aRun({}, 2.1) },
    {
      kind: "finish",
      result: "failed",
      detail: "svc was stopped in the middle of this run.",
      code: "svc_interrupted",
    },
  ],
  ["ends when its server is gone while it stops", { row: restart(1), server: undefined }, gone],
  ["stops a server that it has not stopped yet", { row: restart(0) }, { kind: "stop" }],
  [
    "stops a server that an earlier run stopped once",
    { row: restart(0), server: annotated(ready, "schedule-7-1") },
    { kind: "stop" },
  ],
  [
    "ends when someone starts the server again",
    { row: restart(1), server: annotated(ready, mine) },
    skipped("started_by_somebody", "Someone started the server."),
  ],
  ["waits while the server stops", { row: restart(15), server: stopping }, rest],
  [
    "of a restart starts the server once it is stopped",
    { row: restart(1), server: stopped },
    { kind: "enter", state: "starting", startsAgain: true },
  ],
  [
    "of a restart goes on however late the stop was",
    { row: restart(300), server: stopped },
    { kind: "enter", state: "starting", startsAgain: true },
  ],
  [
    "of a restart fails after a quarter of an hour and starts the server again",
    { row: restart(15.1), server: stopping },
    resumeAfter(late),
  ],
  [
    "of a backup asks for it once the server is stopped",
    { row: backup(1), server: stopped },
    { kind: "ask-backup" },
  ],
  [
    "of a backup that stopped nothing ends when someone starts the server",
    { row: backup(1, false), server: ready },
    skipped("started_by_somebody", "Someone started the server."),
  ],
  [
    "of a backup that stopped nothing leaves the server as it is",
    { row: backup(15.1, false), server: stopping },
    { kind: "finish", result: "failed", ...late },
  ],
  [
    "of a backup reads how it stands, whatever the server does",
    { row: aRun({ action: "backup", run_state: "backing_up" }), server: undefined },
    { kind: "read-backup" },
  ],
  [
    "starts the server at its end",
    { row: aRun({ run_state: "starting" }, 20), server: stopped },
    { kind: "start" },
  ],
  [
    "ends when its server is gone at its end",
    { row: aRun({ run_state: "starting" }), server: undefined },
    gone,
  ],
]);
