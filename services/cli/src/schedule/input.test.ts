import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionOf, minuteOf, stepOf, stepsText, timingOf, triggerOf, weekdaysOf } from "./input.ts";

test("a step is typed as its wait, its condition, its action and its command", () => {
  assert.deepEqual(stepOf("wait=60 only-if=previous_succeeded command say all is well"), {
    ...{ wait_seconds: 60, only_if: "previous_succeeded" },
    ...{ action: "command", command: "say all is well" },
  });
  assert.deepEqual(stepOf(" stop "), { action: "stop" });
  assert.deepEqual(stepOf("only-if=none wait=0 backup"), { only_if: "", wait_seconds: 0, action: "backup" });
  for (const [text, why] of [
    ["dance", /--then dance: write \[wait=SECONDS\]/],
    ["", /ACTION command\|restart/],
    ["wait=soon stop", /such as wait=60/],
    ["only-if=rain stop", /only-if rain: write empty, players_online/],
    ["command", /has a command/],
    ["stop now", /no other has one/],
  ] as const) {
    assert.throws(() => stepOf(text), why, text);
  }
  assert.equal(conditionOf("none"), "");
});

test("a chain is told as it is typed", () => {
  const next_steps = [
    { action: "command", command: "say done", wait_seconds: 60, only_if: "previous_succeeded" },
    { action: "stop", command: "", wait_seconds: 0 },
  ] as const;
  const chain = { action: "backup", command: "", only_if: "empty", next_steps: [...next_steps] } as const;
  const text = "only-if=empty backup > wait=60 only-if=previous_succeeded command say done > stop";
  assert.equal(stepsText(chain), text);
});

test("days are bits, Sunday first, and all of them unless said otherwise", () => {
  assert.deepEqual([weekdaysOf(undefined), weekdaysOf("sun"), weekdaysOf("Mon,sat")], [127, 1, 66]);
  assert.throws(() => weekdaysOf("mon,noday"), /--days mon,noday: write days such as sun,mon/);
});

test("a time of day is minutes since midnight", () => {
  assert.deepEqual([minuteOf("00:00"), minuteOf("4:30"), minuteOf("23:59")], [0, 270, 1_439]);
  for (const text of ["24:00", "12:60", "noon", "1230"]) assert.throws(() => minuteOf(text), /--at /, text);
});

test("when a task runs is told in words", () => {
  const task = { every_minutes: 0, minute_of_day: 270, weekdays: 127 };
  assert.equal(timingOf(task), "at 04:30");
  assert.equal(timingOf({ ...task, every_minutes: 60, weekdays: 66 }), "every 60 min, mon sat");
  assert.equal(timingOf({ ...task, trigger: "server_crashed" }), "when it has crashed");
  const empty = { ...task, trigger: "server_empty", trigger_minutes: 10 };
  assert.equal(timingOf(empty), "when it is empty for 10 min");
});

test("a trigger is one that svc knows, or none", () => {
  assert.deepEqual([triggerOf("backup_failed"), triggerOf("none")], ["backup_failed", ""]);
  assert.throws(() => triggerOf("rain"), /--when rain: write first_player_joined, .* or none/);
});
