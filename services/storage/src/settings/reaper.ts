// Numbers of the daily run (docs/reference/reaper.md#order, docs/reference/settings.md).

import { duration } from "@svc/config";
import { z } from "zod";

const whole = (fallback: number) => z.number().int().min(0).default(fallback);

/** Keys of `[storage]`. */
export const reaperSettings = {
  /** How often storage begins a run by itself; 0s leaves it to `svc reaper`. */
  reaper_every: duration("1d"),
  /** How often it is looked whether a run is due. */
  reaper_check: duration("1m"),
  /** How soon after any run the store may be put in order early, for want of room. */
  reaper_short_every: duration("1h"),
  /** Room is short below so many times what `keep_free` leaves. */
  reaper_short_factor: z.number().min(1).default(1.5),
  /** Worlds that one run archives at the same time; one when the store has a cap. */
  reaper_at_once: whole(2).pipe(z.number().min(1)),
  reaper_heartbeat: duration("15s"),
  /** A run that was silent for so long has died with its process. */
  reaper_silence: duration("2m"),
  /** Tries of one day's run when its process dies (backoffLimit 2). */
  reaper_attempts: whole(3).pipe(z.number().min(1)),
  /** Archives that are read back by one run, and how old their last read-back must be. */
  reaper_read_backs: whole(10),
  reaper_read_back_age: duration("7d"),
  /** Archives marked corrupt that one run reads once more: they may only have been out of reach. */
  reaper_second_looks: whole(2),
  /** A partial that nobody wrote to for so long is swept. */
  reaper_partial_age: duration("6h"),
  /** How long the Job of an archive may need on top of its own deadline. */
  reaper_job_patience: duration("5m"),
  /** How long a deleted volume claim is waited for. */
  reaper_claim_patience: duration("30s"),
  /** How far the clocks of this machine and of the database may be apart; else nothing is done. */
  reaper_clock_apart: duration("5m"),
};

/** Keys of `[offsite]`; storage only needs to know whether there is a bucket. */
export const offsiteSettings = {
  endpoint: z.string().default(""),
  region: z.string().default(""),
  /** Empty = no off-site copies, and none is waited for. */
  bucket: z.string().default(""),
  prefix: z.string().default(""),
  access_key_ref: z.string().default("SVC_OFFSITE_ACCESS_KEY"),
  secret_key_ref: z.string().default("SVC_OFFSITE_SECRET_KEY"),
  key_ref: z.string().default("SVC_OFFSITE_KEY"),
  db_keep: z.number().int().min(1).default(30),
};
