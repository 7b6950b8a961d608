import assert from "node:assert/strict";
import { test } from "node:test";
import type { schedules } from "@svc/proto";
import { lastText, stepsOfLastRun } from "./last-run.ts";

const at = "2026-11-28T04:00:07.000Z";

const task = (facts: Partial<schedules.Schedule> = {}): schedules.Schedule => ({
  ...{ id: 1, server: "survival", label: "", action: "backup", command: "", every_minutes: 0 },
  ...{ minute_of_day: 240, weekdays: 127, timezone: "UTC", warn_minutes: 0, enabled: true },
  ...{ next_run_at: at, run_state: "", last_run_at: at, last_result: "ok", last_detail: "" },
  ...{ created_by: "owner", created_at: at },
  ...facts,
});

const say = {
  action: "command",
  command: "say No backup!",
  wait_seconds: 0,
  only_if: "previous_failed",
} as const;
const refused = { result: "skipped", detail: "The server has no world volume yet." } as const;
const unmet = { result: "skipped", detail: "Its condition was not met." } as const;

test("a last run is its time, its result and why", () => {
  assert.equal(lastText(task()), "2026-11-28T04:00 ok");
  assert.equal(
    lastText(task({ last_result: "skipped", last_detail: "The server was not running." })),
    "2026-11-28T04:00 skipped: The server was not running.",
  );
  assert.equal(lastText(task({ last_run_at: null, last_result: "" })), "-");
  assert.equal(stepsOfLastRun(task()), "");
});

test("a run for a trigger says what happened, and one that did not begin what became of it", () => {
  const last_trigger = { trigger: "server_crashed", at, about: "out_of_memory" } as const;
  assert.equal(
    lastText(task({ last_trigger })),
    "2026-11-28T04:00 ok (server_crashed 2026-11-28T04:00 out_of_memory)",
  );
  const event = { trigger: "server_crashed", at, outcome: "paused" } as const;
  const idle = task({ last_run_at: null, last_result: "", trigger_events: [event] });
  assert.equal(lastText(idle), "[2026-11-28T04:00 paused]");
});

test("a chain lists how each step ended, in its order", () => {
  const chain = task({
    ...{ last_result: "skipped", last_detail: refused.detail, next_steps: [say] },
    step_endings: [refused, unmet],
  });
  assert.equal(lastText(chain), "2026-11-28T04:00 skipped");
  assert.equal(
    stepsOfLastRun(chain),
    `Last run of task 1, 2026-11-28T04:00:
  1  backup                                          skipped  The server has no world volume yet.
  2  only-if=previous_failed command say No backup!  skipped  Its condition was not met.`,
  );
});

test("a chain that runs says at which step it is, one that was cut short which steps never began", () => {
  const stop = { action: "stop", command: "", wait_seconds: 0 } as const;
  const chain = { next_steps: [say, stop], step_endings: [refused] };
  const running = task({ ...chain, run_state: "claimed" });
  assert.equal(lastText(running), "running, step 2 of 3");
  assert.match(stepsOfLastRun(running), /^Run under way .*\n.* skipped .*\n.* running\n.* to come$/);
  assert.match(stepsOfLastRun(task(chain)), /^Last run .*\n.* skipped .*\n.* not begun\n.* not begun$/);
});
