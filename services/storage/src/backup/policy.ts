// The rules of backups (docs/reference/backups.md#create, docs/reference/backups.md#kinds). Pure.

import type { backups } from "@svc/proto";
import type { Settings } from "../config.ts";

type Reason = backups.BackupReason;
type Archive = Settings["archive"];

/** How many backups of a reason are kept per server and owner; undefined = until they expire. */
export function retainedCount(reason: Reason, { archive, storage }: Pick<Settings, "archive" | "storage">) {
  if (reason === "manual") return archive.manual_keep;
  if (reason === "scheduled") return archive.scheduled_keep;
  return reason === "pre_restore" ? storage.pre_restore_keep : undefined;
}

/**
 * Whether a backup shares content with others. Never one whose world is deleted next: it depends on no other archive, and
 * damage of what they share does not reach it.
 */
export function isDeduplicated(reason: Reason, { deduplicate, compression }: Archive): boolean {
  const isLast = reason === "inactive_15d" || reason === "released";
  return deduplicate && compression === "zstd" && !isLast;
}

/** When a backup made at `at` expires; a safety snapshot is kept as long as a manual one. */
export function expiryOf(reason: Reason, at: Date, archive: Archive): Date {
  const keepMs = {
    manual: archive.manual_retention,
    pre_restore: archive.manual_retention,
    scheduled: archive.scheduled_retention,
    inactive_15d: archive.retention,
    released: archive.retention,
  }[reason];
  return new Date(at.getTime() + keepMs);
}

/** Seconds until the next manual backup may start; undefined when it may start now. */
export function cooldownLeft(
  about: { newest: Date | undefined; now: number },
  { manual_cooldown }: Pick<Archive, "manual_cooldown">,
): number | undefined {
  if (!about.newest) return undefined;
  const leftMs = about.newest.getTime() + manual_cooldown - about.now;
  return leftMs > 0 ? Math.ceil(leftMs / 1_000) : undefined;
}

/** No cap when it is 0. */
export function isStoreFull(
  presentBytes: number,
  { max_local_bytes }: Pick<Archive, "max_local_bytes">,
): boolean {
  return max_local_bytes > 0 && presentBytes >= max_local_bytes;
}

type Candidate = {
  id: string;
  created_at: Date;
  pinned: boolean;
  inUse: boolean;
  corrupt: boolean;
  /** Files of the world could not be read. */
  partial: boolean;
};

/**
 * Backups to expire so that `keep` sound ones stay: never a pinned one, nor one that a restore reads or will read. Corrupt
 * and partial backups do not count against the sound ones; of partial ones `keep` stay as well.
 */
export function decidePrune(newestFirst: readonly Candidate[], keep: number): string[] {
  const gone: string[] = [];
  const kept = { sound: 0, partial: 0 };
  for (const { id, pinned, inUse, corrupt, partial } of newestFirst) {
    if (pinned) continue;
    const isOver = kept.sound >= keep || (partial && kept.partial >= keep);
    if (isOver && !inUse) gone.push(id);
    if (!corrupt) kept[partial ? "partial" : "sound"] += 1;
  }
  return gone;
}

/** Who has pinned a backup. */
export type Pin = "none" | "owner" | "staff";

export function pinOf(row: { pinned_at: Date | null; pinned_by_owner: boolean }): Pin {
  if (row.pinned_at === null) return "none";
  return row.pinned_by_owner ? "owner" : "staff";
}

/** The pin after a request; an owner's request does not change a pin of staff. */
export function decidePin(pin: Pin, change: { by: "owner" | "staff"; pinned: boolean }): Pin | "refused" {
  if (change.by === "owner" && pin === "staff") return change.pinned ? "staff" : "refused";
  return change.pinned ? change.by : "none";
}
