import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { schedules } from "@svc/proto";
import { en } from "../words/en/index.ts";
import { zh } from "../words/zh/index.ts";
import {
  dayRanges,
  endingWords,
  happenedWords,
  reasonWords,
  stepsOf,
  stepWords,
  titleWords,
  triggerWords,
  weekdayName,
  whenWords,
} from "./schedule-words.ts";
import type { Schedule, Timetable } from "./timetable.ts";

const schedule: Schedule = {
  ...{ id: 1, server: "survival", label: "", action: "restart", command: "", warn_minutes: 0 },
  ...{ every_minutes: 0, minute_of_day: 180, weekdays: 62, timezone: "Europe/Berlin", enabled: true },
  ...{ next_run_at: null, run_state: "", last_run_at: null, last_result: "failed", last_detail: "" },
  ...{ created_by: "u", created_at: "2026-01-01T00:00:00.000Z" },
};

describe("a schedule in words", () => {
  const cases: readonly (readonly [change: Partial<Timetable>, english: string, chinese: string])[] = [
    [{}, "At 03:00, Mon–Fri, Europe/Berlin", "03:00，周一至周五，Europe/Berlin"],
    [{ weekdays: 127 }, "At 03:00, every day, Europe/Berlin", "03:00，每天，Europe/Berlin"],
    [{ weekdays: 65 }, "At 03:00, Sat, Sun, Europe/Berlin", "03:00，周六、周日，Europe/Berlin"],
    [{ weekdays: 42 }, "At 03:00, Mon, Wed, Fri, Europe/Berlin", "03:00，周一、周三、周五，Europe/Berlin"],
    [
      { every_minutes: 15 },
      "Every 15 minutes, Mon–Fri, Europe/Berlin",
      "每 15 分钟，周一至周五，Europe/Berlin",
    ],
    [{ every_minutes: 60 }, "Every hour, Mon–Fri, Europe/Berlin", "每小时，周一至周五，Europe/Berlin"],
    [{ every_minutes: 360 }, "Every 6 hours, Mon–Fri, Europe/Berlin", "每 6 小时，周一至周五，Europe/Berlin"],
  ];
  for (const [change, english, chinese] of cases) {
    test(english, () => {
      const timetable = { ...schedule, ...change };
      assert.equal(whenWords(en, timetable, "en"), english);
      assert.equal(whenWords(zh, timetable, "zh-CN"), chinese);
    });
  }
});

test("days that follow each other are a range from three on", () => {
  assert.deepEqual(dayRanges(0), []);
  assert.deepEqual(dayRanges(0b1000011), [
    [1, 1],
    [6, 6],
    [0, 0],
  ]);
  assert.deepEqual(dayRanges(0b1110001), [[4, 0]]);
  assert.equal(weekdayName(0, "en"), "Sun");
  assert.equal(weekdayName(6, "zh-CN"), "周六");
});

describe("why a run ended as it did", () => {
  for (const [title, change, expected] of [
    ["a code", { last_code: "stop_late" }, en.schedules.codes.stop_late],
    [
      "a code with the fault behind it",
      { last_code: "start_refused", last_cause: "at_capacity" },
      `${en.schedules.codes.start_refused} ${en.faults.at_capacity}`,
    ],
    [
      "a fault whose code has another name",
      { last_code: "start_refused", last_cause: "overloaded" },
      `${en.schedules.codes.start_refused} ${en.faults.unavailable}`,
    ],
    [
      "a fault without words",
      { last_code: "start_refused", last_cause: "new" },
      en.schedules.codes.start_refused,
    ],
    ["nothing to say", { last_result: "ok" }, ""],
    [
      "the game's answer",
      { action: "command", last_result: "ok", last_detail: "There are 0 players" },
      en.schedules.answer("\u2068There are 0 players\u2069"),
    ],
    ["a run of before there were codes", { last_detail: "The backup failed." }, "The backup failed."],
  ] as const) {
    test(title, () => assert.equal(reasonWords(en, { ...schedule, ...change }), expected));
  }
});

test("a chain in words: each step with its wait and condition, and how it ended", () => {
  const chain: Schedule = {
    ...{ ...schedule, action: "backup", only_if: "played_since_success" },
    next_steps: [
      { action: "command", command: "say done", wait_seconds: 90, only_if: "previous_succeeded" },
      { action: "stop", command: "", wait_seconds: 600 },
    ],
  };
  assert.deepEqual(
    stepsOf(chain).map((step) => stepWords(en, step)),
    [
      "Back up the world · Only if somebody has played since the last successful run",
      "Send a command: \u2068say done\u2069 · after 90 seconds · Only if the step before it succeeded",
      "Stop the server · after 10 minutes",
    ],
  );
  assert.equal(stepWords(zh, stepsOf(chain)[2] ?? assert.fail()), "停止服务器 · 等待 10 分钟后");
  assert.deepEqual(
    [titleWords(en, chain), titleWords(zh, chain), titleWords(en, schedule)],
    ["Back up the world and 2 more steps", "备份世界，另有 2 个步骤", "Restart the server"],
  );
  const ending = { result: "skipped", detail: "", chain_code: "condition_not_met" } as const;
  assert.equal(endingWords(en, "stop", ending), en.schedules.codes.condition_not_met);
});

test("a trigger is told with its minutes, and what happened with the cause of a crash", () => {
  const empty = { ...schedule, trigger: "server_empty", trigger_minutes: 10, pause_minutes: 1 } as const;
  assert.equal(triggerWords(en, empty), "The server is empty for 10 minutes, not again for 1 minute");
  assert.equal(triggerWords(zh, empty), "服务器无人在线达 10 分钟，1 分钟内不再运行");
  assert.match(triggerWords(en, { ...empty, trigger_minutes: 0 }), /^The server is empty, /);
  const crash = { trigger: "server_crashed", at: "", about: "memory_limit" } as const;
  const why = "The server crashes or hangs, It needed more memory than it may have";
  assert.equal(happenedWords(en, crash), why);
  assert.equal(happenedWords(en, { ...crash, about: "new" }), "The server crashes or hangs");
  assert.equal(happenedWords(zh, { trigger: "backup_failed", at: "", about: "job-1" }), "备份失败");
});

test("every trigger and outcome of the contract has words", () => {
  assert.deepEqual(Object.keys(en.schedules.triggers).sort(), [...schedules.scheduleTriggers].sort());
  assert.deepEqual(Object.keys(en.schedules.outcomes).sort(), [...schedules.TriggerOutcome.options].sort());
});

test("every code of the contract has words", () => {
  assert.deepEqual(
    Object.keys(en.schedules.codes).sort(),
    [...schedules.RunCode.options, ...schedules.ChainCode.options].sort(),
  );
});
