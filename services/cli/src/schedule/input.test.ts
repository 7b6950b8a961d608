import assert from "node:assert/strict";
import { test } from "node:test";
import { minuteOf, timingOf, weekdaysOf } from "./input.ts";

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
});
