// Numbers of the daily run (docs/reference/reaper.md#order, docs/reference/settings.md).

import { duration } from "@svc/config";
import { z } from "zod";

const whole = (fallback: number) => z.number().int().min(0).default(fallback);

/** Keys of `[storage]`. */
export const reaperSettings = {
  /** How often storage starts a run by itself; 0s leaves it to `svc reaper`. */
  reaper_every: duration("1d"),
  /** How often storage checks whether a run is due. */
  reaper_check: duration("1m"),
  /** Shortest time between two runs that only expire archives because space is low. */
  reaper_short_every: duration("1h"),
  /** Space is low when less is free than `keep_free` times this factor. */
  reaper_short_factor: z.number().min(1).default(1.5),
  /** Worlds that one run archives in parallel; one when the store has a cap. */
  reaper_at_once: whole(2).pipe(z.number().min(1)),
  /** How often a run writes its heartbeat. */
  reaper_heartbeat: duration("15s"),
  /** A run without a heartbeat for this long counts as dead. */
  reaper_silence: duration("2m"),
  /** Attempts of a daily run whose process dies (backoffLimit 2). */
  reaper_attempts: whole(3).pipe(z.number().min(1)),
  /** Archives that one run verifies again, at most. */
  reaper_read_backs: whole(10),
  /** Age of the last verification from which it does. */
  reaper_read_back_age: duration("7d"),
  /** Corrupt archives that one run verifies again: they may only have been unreachable. */
  reaper_second_looks: whole(2),
  /** Age at which an unfinished archive file is deleted. */
  reaper_partial_age: duration("6h"),
  /** How long to wait for an archive Job beyond its own deadline. */
  reaper_job_patience: duration("5m"),
  /** How long to wait until a deleted volume claim is gone. */
  reaper_claim_patience: duration("30s"),
  /** Age of the newest confirmation of all off-site copies above which no archive is evicted for having one. */
  offsite_confirm_age: duration("3h"),
  /** Largest difference between the clocks of this machine and the database; beyond it a run does nothing. */
  reaper_clock_apart: duration("5m"),
};
