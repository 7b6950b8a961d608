import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { schedules } from "@svc/proto";
import { translateCron } from "./cron.ts";

describe("a cron line", () => {
  const cases: readonly (readonly [line: string, said: string])[] = [
    ["0 3 * * 1-5", "every 0 at 180 on 62"],
    [" 30  4 * * * ", "every 0 at 270 on 127"],
    ["0 3 * * mon,WED,fri", "every 0 at 180 on 42"],
    ["0 3 * * 7", "every 0 at 180 on 1"],
    ["0 3 * * sat-sun", "every 0 at 180 on 65"],
    ["0 3 ? * *", "every 0 at 180 on 127"],
    ["*/15 * * * *", "every 15 at 0 on 127"],
    ["0,30 * * * 0", "every 30 at 0 on 1"],
    ["0 * * * *", "every 60 at 0 on 127"],
    ["0 */6 * * *", "every 360 at 0 on 127"],
    ["0 0,12 * * *", "every 720 at 0 on 127"],
    ["0/15 * * * *", "every 15 at 0 on 127"],
    ["@daily", "every 0 at 0 on 127"],
    ["@hourly", "every 60 at 0 on 127"],
    ["@Weekly", "every 0 at 0 on 1"],
    ["CRON_TZ=Asia/Shanghai 0 3 * * *", "every 0 at 180 on 127 in Asia/Shanghai"],
    ["TZ=Atlantis/Capital 0 3 * * *", "value"],
    ["", "fields"],
    ["0 3 * *", "fields"],
    ["0 0 3 * * *", "fields"],
    ["0 3 * * * /usr/bin/backup", "fields"],
    ["@reboot", "fields"],
    ["60 3 * * *", "value"],
    ["0 24 * * *", "value"],
    ["0 3 * * 8", "value"],
    ["0 3 * * moon", "value"],
    ["5-1 3 * * *", "value"],
    ["*/0 * * * *", "value"],
    ["-1 3 * * *", "value"],
    ["1,,2 3 * * *", "value"],
    ["0 3 1 * *", "dates"],
    ["0 3 * 1-6 *", "dates"],
    ["@monthly", "dates"],
    ["0 3,15 * * *", "irregular"],
    ["5 * * * *", "irregular"],
    ["*/7 * * * *", "irregular"],
    ["*/10 * * * *", "irregular"],
    ["* * * * *", "irregular"],
    ["*/15 8-20 * * *", "irregular"],
  ];
  for (const [line, said] of cases) {
    test(`${JSON.stringify(line)}: ${said}`, () => {
      const found = translateCron(line, schedules.scheduleIntervals);
      if (found.kind === "refused") return assert.equal(found.problem, said);
      const { every, minuteOfDay, weekdays, timezone } = found.steps;
      const zone = timezone === undefined ? "" : ` in ${timezone}`;
      assert.equal(`every ${every} at ${minuteOfDay} on ${weekdays}${zone}`, said);
    });
  }
});
