import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { schedules } from "@svc/proto";
import { actions, type Draft, draftOf, inputOf, intervals, newDraft, problemsOf, warnings } from "./draft.ts";
import type { Schedule } from "./timetable.ts";

// The service's own rule. Its types need those of Node, which the panel is checked without.
const rule = new URL("../../../lifecycle/src/schedule/input.ts", import.meta.url).href;
const { validateInput } = (await import(rule)) as { validateInput: (input: object) => { kind: string } };

test("the choices are those of the contract", () => {
  assert.deepEqual([...actions].sort(), [...schedules.scheduleActions].sort());
  assert.deepEqual(intervals, schedules.scheduleIntervals);
  assert.deepEqual(warnings, schedules.scheduleWarnings);
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
  } as const;
  const schedule: Schedule = {
    ...settings,
    ...{ id: 1, server: "survival", next_run_at: null, run_state: "", last_run_at: null },
    ...{ last_result: "", last_detail: "", created_by: "u", created_at: "2026-01-01T00:00:00.000Z" },
  };
  assert.deepEqual(inputOf(draftOf(schedule)), settings);
});
