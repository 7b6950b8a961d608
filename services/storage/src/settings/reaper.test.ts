import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { moveSettings } from "./move.ts";
import { reaperSettings } from "./reaper.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

test("the defaults of the daily run are those of the specification", () => {
  assert.deepEqual(z.object(reaperSettings).parse({}), {
    reaper_every: day,
    reaper_check: minute,
    reaper_short_every: hour,
    reaper_short_factor: 1.5,
    reaper_at_once: 2,
    reaper_heartbeat: minute / 4,
    reaper_silence: 2 * minute,
    reaper_attempts: 3,
    reaper_read_backs: 10,
    reaper_read_back_age: 7 * day,
    reaper_second_looks: 2,
    reaper_partial_age: 6 * hour,
    reaper_job_patience: 5 * minute,
    reaper_claim_patience: minute / 2,
    offsite_confirm_age: 3 * hour,
    reaper_clock_apart: 5 * minute,
  });
});

test("the defaults of world moves are those of the specification", () => {
  assert.deepEqual(z.object(moveSettings).parse({}), {
    move_interval: 2_000,
    move_deadline: 2 * hour,
    move_ticket: 2 * hour,
    move_start_patience: 2 * minute,
  });
});
