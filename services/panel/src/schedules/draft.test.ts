import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { schedules } from "@svc/proto";
import {
  actions,
  conditions,
  type Draft,
  type DraftStep,
  draftOf,
  firstConditions,
  inputOf,
  intervals,
  maxSteps,
  newDraft,
  paceOf,
  problemsOf,
  waits,
  warnings,
  withStep,
} from "./draft.ts";
import type { Schedule } from "./timetable.ts";

// The service's own rule. Its types need those of Node, which the panel is checked without.
const rule = new URL("../../../lifecycle/src/schedule/input.ts", import.meta.url).href;
const { validateInput } = (await import(rule)) as { validateInput: (input: object) => { kind: string } };

test("the choices are those of the contract", () => {
  assert.deepEqual([...actions].sort(), [...schedules.scheduleActions].sort());
  assert.deepEqual(intervals, schedules.scheduleIntervals);
  assert.deepEqual(warnings, schedules.scheduleWarnings);
  assert.deepEqual(conditions, schedules.stepConditions);
  assert.equal(maxSteps, schedules.maxSteps);
  assert.equal(Math.max(...waits), schedules.maxWaitSeconds);
  for (const condition of firstConditions) {
    assert.equal(validateInput(inputOf({ ...newDraft("UTC"), condition })).kind, "fine");
  }
});

const step = (change: Partial<DraftStep>): DraftStep => ({
  ...{ key: 4, action: "stop", command: "", wait: 0, condition: "none" },
  ...change,
});

test("a new step has a key of its own, and the slowest step says how often all may run", () => {
  const [first, second, ...none] = withStep(withStep([]));
  assert.notEqual(first?.key, second?.key);
  assert.deepEqual(none, []);
  assert.equal(paceOf({ action: "command", steps: [step({ action: "command" })] }), "command");
  assert.equal(paceOf({ action: "command", steps: [step({})] }), "stop");
});

describe("what the editor refuses, the service refuses, and nothing else", () => {
  const cases: readonly (readonly [title: string, change: Partial<Draft>, problems: readonly string[]])[] = [
    ["a new schedule", {}, []],
    ["a command", { action: "command", command: "/say hello" }, []],
    ["a command every 15 minutes", { action: "command", command: "list", every: 15, time: "" }, []],
    ["no command", { action: "command", command: " / " }, ["command"]],
    ["a command of two lines", { action: "command", command: "say a\nsay b" }, ["command"]],
    ["a command of 1,025 characters", { action: "command", command: "a".repeat(1_025) }, ["command"]],
    ["a command of too many bytes", { action: "command", command: "世".repeat(483) }, ["command"]],
    ["a text left over from another action", { action: "stop", command: "say hello" }, []],
    ["a restart every 30 minutes", { every: 30 }, ["interval"]],
    ["a restart every hour", { every: 60, time: "" }, []],
    ["an interval that there is not", { every: 45 }, ["interval"]],
    ["no time", { time: "" }, ["time"]],
    ["no day", { weekdays: 0 }, ["days"]],
    ["no zone", { timezone: "" }, ["zone"]],
    ["an unknown zone", { timezone: "Europe/Berlim" }, ["zone"]],
    ["a label of 64 Chinese characters", { label: "夜".repeat(64) }, []],
    ["a label of 65 characters", { label: "a".repeat(65) }, ["label"]],
    ["a step", { steps: [step({ wait: 600, condition: "previous_succeeded" })] }, []],
    ["a step with no command", { steps: [step({ action: "command" })] }, ["command-4"]],
    ["a text left over in a step", { steps: [step({ command: "say hello" })] }, []],
    [
      "a stop behind a command every 15 minutes",
      { action: "command", command: "list", every: 15, time: "", steps: [step({})] },
      ["interval"],
    ],
    ["ten steps", { steps: Array.from({ length: 9 }, (_, key) => step({ key })) }, []],
    ["a warning for a start", { action: "start", warn: 30 }, []],
  ];
  for (const [title, change, problems] of cases) {
    test(title, () => {
      const draft = { ...newDraft("Europe/Berlin"), ...change };
      assert.deepEqual([...problemsOf(draft)], problems);
      // A field without a time never reaches the service: it would count as midnight.
      if (problems.includes("time")) return;
      assert.equal(validateInput(inputOf(draft)).kind, problems.length === 0 ? "fine" : "refused");
    });
  }
});

test("a schedule that is saved unchanged stays as it was", () => {
  const settings = {
    action: "restart",
    label: "nightly",
    command: "",
    every_minutes: 0,
    minute_of_day: 65,
    weekdays: 62,
    timezone: "Europe/Berlin",
    warn_minutes: 15,
    enabled: false,
    only_if: "empty",
    next_steps: [{ action: "command", command: "say done", wait_seconds: 45, only_if: "previous_failed" }],
  } satisfies Partial<Schedule>;
  const schedule: Schedule = {
    ...settings,
    ...{ id: 1, server: "survival", next_run_at: null, run_state: "", last_run_at: null },
    ...{ last_result: "", last_detail: "", created_by: "u", created_at: "2026-01-01T00:00:00.000Z" },
  };
  assert.deepEqual(inputOf(draftOf(schedule)), { ...settings, trigger: "" });
  const { only_if: _, next_steps: __, ...single } = schedule;
  assert.deepEqual(inputOf(draftOf(single)), {
    ...{ ...settings, trigger: "", only_if: "", next_steps: [] },
  });
  const waits = { trigger: "server_empty", trigger_minutes: 0, pause_minutes: 60 } as const;
  const timeless = { every_minutes: 0, minute_of_day: 0, weekdays: 127, warn_minutes: 0 } as const;
  assert.deepEqual(inputOf(draftOf({ ...schedule, ...waits })), { ...settings, ...timeless, ...waits });
  const crash = { trigger: "server_crashed", pause_minutes: 5 } as const;
  assert.deepEqual(inputOf(draftOf({ ...schedule, ...crash })), { ...settings, ...timeless, ...crash });
});

test("minutes of a trigger are whole numbers within a day, and its time is not looked at", () => {
  const draft = { ...newDraft("Nowhere/Else"), trigger: "server_empty", weekdays: 0, time: "" } as const;
  const wrong = (emptyMinutes: string, pauseMinutes = "5") => [
    ...problemsOf({ ...draft, emptyMinutes, pauseMinutes }),
  ];
  assert.deepEqual([wrong("0"), wrong("1440", "1440"), wrong(" 5 ")], [[], [], []]);
  for (const text of ["", "-1", "0.5", "1441", "five"]) assert.deepEqual(wrong(text), ["empty"], text);
  for (const text of ["", "0", "1441", "1e2"]) assert.deepEqual(wrong("5", text), ["pause"], text);
  assert.equal(validateInput(inputOf(draft)).kind, "fine");
});
