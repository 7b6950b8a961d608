// What the daily run does with one world (docs/reference/reaper.md#order, docs/reference/reaper.md#verdict). Pure.
//
// | what the server is                        | plan                                                      |
// |-------------------------------------------|-----------------------------------------------------------|
// | a system server, or exempt                | left alone, whatever else is true                         |
// | an object that is gone, deletion pending  | orphan: a remaining volume counts as skipped              |
// | an object that is gone                    | left alone                                                |
// | released or being deleted                 | reap as released or deleted, however active it was        |
// | idle for more than 15 days                | reap as reclaimed                                         |
// | owned, inside a window before that        | warn, once per window and time of idleness                |
// | anything else                             | left alone                                                |

import { parseDuration } from "@svc/config";
import type { worlds } from "@svc/proto";
import type { BackupRow } from "../database/tables.ts";

export type WorldServer = worlds.WorldServer;
export type Outcome = "reclaimed" | "released" | "deleted";
/** Columns that record a delivered warning: the first, and the last one before the reclaim. */
type Window = "3d" | "1d";

export type WorldPlan =
  | { kind: "leave" }
  | { kind: "orphan" }
  | { kind: "warn"; window: Window; goesAt: number }
  | { kind: "reap"; outcome: Outcome; reason: "inactive_15d" | "released" };

const dayMs = 86_400_000;
/** Fixed, not a setting: owners are promised these days (docs/reference/reaper.md#verdict). */
export const idleMs = 15 * dayMs;

export function decideWorld(
  world: WorldServer,
  about: { now: number; warnBefore: readonly number[] },
): WorldPlan {
  if (world.system || world.reaper_exempt) return { kind: "leave" };
  if (!world.exists) return world.retiring?.delete ? { kind: "orphan" } : { kind: "leave" };
  if (world.retiring) {
    return { kind: "reap", outcome: world.retiring.delete ? "deleted" : "released", reason: "released" };
  }
  const goesAt = Date.parse(world.last_active_at) + idleMs;
  if (about.now > goesAt) return { kind: "reap", outcome: "reclaimed", reason: "inactive_15d" };
  const window = world.owner_id === undefined ? undefined : windowAt(world, { ...about, goesAt });
  return window === undefined ? { kind: "leave" } : { kind: "warn", window, goesAt };
}

type Clock = { now: number; warnBefore: readonly number[]; goesAt: number };

// Inside both windows the nearer one is used: a late mail must not promise two more days.
function windowAt(world: WorldServer, { now, warnBefore, goesAt }: Clock): Window | undefined {
  const nearest = Math.min(...warnBefore);
  const open = warnBefore.filter((before) => now >= goesAt - before);
  if (open.length === 0) return undefined;
  const window = open.includes(nearest) ? "1d" : "3d";
  const stamp = window === "1d" ? world.warned_1d_at : world.warned_3d_at;
  // A stamp older than the last activity belongs to an earlier idle period.
  const isTold = stamp !== undefined && Date.parse(stamp) >= Date.parse(world.last_active_at);
  return isTold ? undefined : window;
}

/** Milliseconds of `archive.warn_before`; the configuration has rejected invalid spans. */
export function warnBeforeMs(spans: readonly string[]): number[] {
  return spans.flatMap((span) => parseDuration(span) ?? []);
}

export type VolumePlan =
  /** A new archive is made. */
  | { kind: "archive" }
  /** There is an archive that may be of this world: it is verified and compared before it is relied on. */
  | { kind: "reuse"; backup: BackupRow }
  /** The world is archived and gone: only the release is missing. */
  | { kind: "finish"; backup: BackupRow }
  /** An unowned server without a world: its idle time starts again. */
  | { kind: "restart-clock" }
  /** An owned server without a world: it is released, there is nothing to archive. */
  | { kind: "release" };

/** Decides what is done with the volume; `backups` are the server's, newest first. */
export function decideVolume(
  world: WorldServer,
  about: { outcome: Outcome; hasVolume: boolean; backups: readonly BackupRow[] },
): VolumePlan {
  const { outcome, hasVolume } = about;
  const wanted = outcome === "reclaimed" ? "inactive_15d" : "released";
  const fresh = about.backups.filter((backup) => isFresh(backup, world));
  if (hasVolume) {
    const backup = fresh.find(({ reason }) => reason === wanted);
    return backup ? { kind: "reuse", backup } : { kind: "archive" };
  }
  const [made] = fresh;
  if (made) return { kind: "finish", backup: made };
  const isNobodys = world.owner_id === undefined;
  return isNobodys && outcome === "reclaimed" ? { kind: "restart-clock" } : { kind: "release" };
}

/** Whether a reaper archive is of the world's current state, as far as the records tell. */
function isFresh(backup: BackupRow, world: WorldServer): boolean {
  if (backup.status !== "present" || backup.corrupt_at !== null) return false;
  if (backup.reason !== "inactive_15d" && backup.reason !== "released") return false;
  if ((backup.former_owner ?? undefined) !== world.owner_id) return false;
  const since = Math.max(Date.parse(world.last_active_at), Date.parse(world.claimed_at ?? "1970-01-01"));
  return backup.created_at.getTime() >= since;
}
