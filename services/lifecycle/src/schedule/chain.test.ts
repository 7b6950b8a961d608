import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { schedules } from "@svc/proto";
import { emptyRunning } from "../testing/observed.ts";
import {
  anObservedTask,
  aRun,
  due,
  failed,
  minute,
  ready,
  starting,
  stopped,
  stopping,
} from "../testing/schedule/observed-schedule.ts";
import { decideAfterStep, decideEnd, isUnmet, type Step, stepOf, stepsOf } from "./chain.ts";
import { decide, decideClaimed } from "./decide.ts";
import { type Observed, runKeyOf } from "./observed.ts";
import type { Ending, Plan } from "./plan.ts";
import type { ScheduleRow } from "./row.ts";

const step = (action: Step["action"], more: Partial<Step> = {}): Step => ({
  ...{ action, command: "", wait_seconds: 0 },
  ...more,
});
const say = step("command", { command: "say done", wait_seconds: 60 });
const ok: schedules.StepEnding = { result: "ok", detail: "" };
const skipped: schedules.StepEnding = { result: "skipped", detail: "", code: "server_not_running" };
const unmet: schedules.StepEnding = { result: "skipped", detail: "", chain_code: "condition_not_met" };
const lost: schedules.StepEnding = { result: "failed", detail: "The disk is full.", code: "backup_failed" };
const now = due + 60 * minute;

const crowded = { ...ready, status: { ...emptyRunning, players: { online: 2, max: 20 } } };
const uncounted = {
  ...ready,
  status: {
    ...emptyRunning,
    conditions: [
      {
        ...{ type: "PlayersCounted", status: "False" as const, reason: "Unreachable", message: "" },
        lastTransitionTime: new Date(due).toISOString(),
      },
    ],
  },
};

describe("the condition of a step", () => {
  const lastOk = new Date(due - 60 * minute);
  const played = { lastPlayedAt: new Date(due - 30 * minute) };
  const idle = { lastPlayedAt: new Date(due - 90 * minute) };
  const holds = (
    only_if: schedules.StepCondition,
    changes: Partial<Observed>,
    row: Partial<ScheduleRow> = {},
  ) => !isUnmet(anObservedTask({ row: aRun({ only_if, last_ok_at: lastOk, ...row }), ...changes }));
  const table: [fact: string, holds: boolean, isExpected: boolean][] = [
    ["empty holds while nobody plays", holds("empty", {}), true],
    ["empty holds while it is stopped", holds("empty", { server: stopped }), true],
    ["empty does not hold while somebody plays", holds("empty", { server: crowded }), false],
    ["empty does not hold while nobody knows who plays", holds("empty", { server: uncounted }), false],
    ["empty does not hold while players may still be leaving", holds("empty", { server: stopping }), false],
    [
      "empty does not hold when it has failed and may have players",
      holds("empty", { server: failed }),
      false,
    ],
    ["players_online holds while somebody plays", holds("players_online", { server: crowded }), true],
    ["players_online does not hold while nobody plays", holds("players_online", {}), false],
    [
      "players_online does not hold while nobody knows",
      holds("players_online", { server: uncounted }),
      false,
    ],
    ["players_online does not hold while it starts", holds("players_online", { server: starting }), false],
    ["played_since_success holds when somebody came since", holds("played_since_success", played), true],
    [
      "played_since_success holds at the very moment",
      holds("played_since_success", { lastPlayedAt: lastOk }),
      true,
    ],
    ["played_since_success does not hold when nobody came", holds("played_since_success", idle), false],
    [
      "played_since_success holds for who came before and is still there",
      holds("played_since_success", { ...idle, server: crowded }),
      true,
    ],
    [
      "played_since_success holds while nobody knows who plays",
      holds("played_since_success", { ...idle, server: uncounted }),
      true,
    ],
    [
      "played_since_success counts from when the task was made, before a run went well",
      holds("played_since_success", idle, { last_ok_at: null, created_at: new Date(due - 120 * minute) }),
      true,
    ],
  ];
  for (const [fact, is, isExpected] of table) test(fact, () => assert.equal(is, isExpected));

  const after = (only_if: schedules.StepCondition, before: schedules.StepEnding) =>
    !isUnmet(
      anObservedTask({
        row: aRun({ run_step: 1, next_steps: [step("stop", { only_if })], step_endings: [before] }),
      }),
    );
  for (const [before, succeeded, hasFailed] of [
    [ok, true, false],
    [skipped, false, false],
    [lost, false, true],
  ] as const) {
    test(`after a step that was ${before.result}, previous_succeeded is ${succeeded}, previous_failed ${hasFailed}`, () =>
      assert.deepEqual(
        [after("previous_succeeded", before), after("previous_failed", before)],
        [succeeded, hasFailed],
      ));
  }

  test("that does not hold skips the step, whatever it would do", () => {
    const plan = decideClaimed(anObservedTask({ row: aRun({ only_if: "empty" }), server: crowded }));
    assert.deepEqual(plan, {
      ...{ kind: "finish", result: "skipped" },
      ...{ detail: "Its condition was not met.", chain_code: "condition_not_met" },
    });
  });

  test("that does not hold now warns nobody", () => {
    const warn = (row: Partial<ScheduleRow>) =>
      decide(
        anObservedTask({
          row: { ...aRun({}), run_state: "", warn_minutes: 10, ...row },
          now: due - minute,
          server: crowded,
        }),
      );
    assert.deepEqual(warn({ only_if: "players_online" }), { kind: "warn", minutes: 1 });
    assert.deepEqual(warn({ only_if: "empty" }), { kind: "rest" });
  });
});

describe("the end of a step", () => {
  const chain = { action: "backup", next_steps: [say, step("stop")] } as const;
  const end = (about: Partial<Extract<Plan, { kind: "end" }>>) => ({ kind: "end", ...about });
  const table: [fact: string, row: Partial<ScheduleRow>, ending: Ending, plan: unknown][] = [
    ["of a task of one step ends the run", {}, ok, end({ ending: ok, endings: [], action: "restart" })],
    ["begins the wait of the next", chain, ok, { kind: "continue", endings: [ok], at: now + minute }],
    [
      "goes on after a failure, too: conditions say what depends on it",
      chain,
      lost,
      { kind: "continue", endings: [lost], at: now + minute },
    ],
    [
      "goes on at once to a step that waits for nothing",
      { ...chain, run_step: 1, step_endings: [ok] },
      skipped,
      { kind: "continue", endings: [ok, skipped], at: now },
    ],
    [
      "of the last ends the run with what was done last",
      { ...chain, run_step: 2, step_endings: [ok, { ...ok, detail: "done" }] },
      skipped,
      end({
        ending: { ...ok, detail: "done" },
        endings: [ok, { ...ok, detail: "done" }, skipped],
        action: "command",
      }),
    ],
    [
      "of the last ends the run with the first failure",
      { ...chain, run_step: 2, step_endings: [lost, ok] },
      { ...lost, code: "start_refused" },
      end({ ending: lost, endings: [lost, ok, { ...lost, code: "start_refused" }], action: "backup" }),
    ],
    [
      "of the last is skipped when all were, for what kept the first from it",
      { ...chain, run_step: 2, step_endings: [skipped, unmet] },
      unmet,
      end({ ending: skipped, endings: [skipped, unmet, unmet], action: "backup" }),
    ],
    [
      "of the last is skipped for its condition when no condition held",
      { ...chain, run_step: 2, step_endings: [unmet, unmet] },
      unmet,
      end({ ending: unmet, endings: [unmet, unmet, unmet], action: "stop" }),
    ],
    [
      "whose server is gone ends the run",
      chain,
      { ...skipped, code: "server_gone" },
      end({
        ...{ ending: { ...skipped, code: "server_gone" }, action: "backup" },
        endings: [{ ...skipped, code: "server_gone" }],
      }),
    ],
  ];
  for (const [fact, row, ending, plan] of table) {
    test(fact, () => assert.deepEqual(decideAfterStep({ row: aRun(row), now }, ending), plan));
  }

  test("an early end says why the rest was left out, unless something failed", () => {
    const row = (before: schedules.StepEnding) => aRun({ ...chain, run_step: 1, step_endings: [before] });
    const cut: Ending = { result: "skipped", detail: "", chain_code: "run_cancelled" };
    assert.deepEqual(decideEnd(row(ok), cut).ending, cut);
    assert.deepEqual(decideEnd(row(lost), cut).ending, lost);
  });
});

describe("a run between two steps", () => {
  const waiting = (since: number, changes: Partial<ScheduleRow> = {}) =>
    aRun(
      {
        ...{
          run_state: "claimed",
          run_waits: true,
          action: "backup",
          next_steps: [say],
          run_step: 1,
          step_endings: [ok],
        },
        ...changes,
      },
      since,
    );
  const ends = (
    result: "skipped" | "missed",
    code: schedules.RunCode | schedules.ChainCode,
    detail: string,
  ): Plan => {
    const isOfChains = schedules.ChainCode.safeParse(code).success;
    const ending = { result, detail, [isOfChains ? "chain_code" : "code"]: code };
    return { kind: "end", ending, endings: [ok, ending], action: "command" };
  };
  const rest: Plan = { kind: "rest" };
  const begin: Plan = { kind: "begin-step" };
  const stop = { next_steps: [step("stop")] };
  const owner = "The server has a new owner; save it again to switch it on.";
  const late = "The step could not begin in time, so the rest of the run was left out.";
  const revoked = "Whoever saved it has no access any more.";
  const table: [fact: string, observed: Partial<Observed>, plan: Plan][] = [
    ["waits until its time", { row: waiting(-0.1) }, rest],
    ["begins the next step at its time", { row: waiting(0) }, begin],
    ["begins it up to a quarter of an hour late", { row: waiting(15) }, begin],
    ["is missed after that", { row: waiting(15.1) }, ends("missed", "step_late", late)],
    ["waits with a command for a server that starts", { row: waiting(14), server: starting }, rest],
    ["does not wait for ever", { row: waiting(15.1), server: starting }, ends("missed", "step_late", late)],
    ["does not wait with a command for a server that sleeps", { row: waiting(1), server: stopped }, begin],
    ["does not wait with a command for a server that failed", { row: waiting(1), server: failed }, begin],
    [
      "does not wait with a stop for a server that starts",
      { row: waiting(1, stop), server: starting },
      begin,
    ],
    [
      "ends when the server has a new owner",
      { row: waiting(0), owner: "usr-2" },
      ends("skipped", "owner_changed", owner),
    ],
    [
      "ends before its time, too",
      { row: waiting(-30), owner: null },
      ends("skipped", "owner_changed", owner),
    ],
    [
      "ends when the server is deleted",
      { row: waiting(0), owner: undefined },
      ends("skipped", "server_deleted", "The server was deleted."),
    ],
    [
      "ends when the access of its saver has ended",
      { row: waiting(0, { run_revoked: true }) },
      ends("skipped", "run_cancelled", revoked),
    ],
  ];
  for (const [fact, observed, plan] of table) {
    test(fact, () => assert.deepEqual(decide(anObservedTask(observed)), plan));
  }

  test("each step of a run has a key of its own", () => {
    const row = waiting(0);
    assert.equal(runKeyOf({ ...row, run_step: 0 }), `schedule-7-${due + 5_000}`);
    assert.equal(runKeyOf(row), `schedule-7-${due + 5_000}-1`);
    // Storage takes no longer one.
    const longest = { id: Number.MAX_SAFE_INTEGER, last_run_at: new Date(8.64e15), run_step: 9 };
    assert.ok(runKeyOf(longest).length <= 64);
  });

  test("the steps of a task begin with its own action", () => {
    const row = waiting(0, { only_if: "empty" });
    assert.deepEqual(stepsOf(row), [step("backup", { only_if: "empty" }), say]);
    assert.deepEqual(stepOf(row), say);
    assert.deepEqual(stepOf({ ...row, run_step: 0 }), step("backup", { only_if: "empty" }));
  });
});
