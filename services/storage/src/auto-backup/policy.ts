// Which server gets the next scheduled backup (docs/reference/backups.md#scheduled). Pure.

import type { WorldServer } from "../job/world.ts";

export type Observed = {
  worlds: readonly WorldServer[];
  /** By `server/owner`: when the newest intact scheduled backup was made. */
  newest: ReadonlyMap<string, Date>;
  /** `server/owner` of servers whose scheduled backup failed recently. */
  failed: ReadonlySet<string>;
  now: number;
  everyMs: number;
};

type SlotJob = { kind: string; started_at: Date };
type SlotSettings = {
  backup_deadline: number;
  restore_deadline: number;
  /** Share of its deadline for which a Job delays the next scheduled backup. */
  slot_share: number;
};

/**
 * Whether a Job still delays scheduled backups of other worlds. A longer one continues to its deadline, but the next
 * starts in parallel: no world, however large, blocks the slot.
 */
export function holdsSlot({ kind, started_at }: SlotJob, settings: SlotSettings, now: number): boolean {
  const deadline = kind === "restore" ? settings.restore_deadline : settings.backup_deadline;
  return now - started_at.getTime() < deadline * settings.slot_share;
}

/** Servers that are due: those without any scheduled backup first, then by the age of the newest one. */
export function dueForBackup({ worlds, newest, failed, now, everyMs }: Observed): string[] {
  const due = worlds.flatMap((world) => {
    const { name, owner_id, exists, stopped, last_active_at } = world;
    if (owner_id === undefined || !exists || !stopped || world.retiring) return [];
    const key = `${name}/${owner_id}`;
    if (failed.has(key)) return [];
    const last = newest.get(key)?.getTime();
    if (last === undefined) return [{ name, last: Number.NEGATIVE_INFINITY }];
    const isDue = now - last >= everyMs && Date.parse(last_active_at) > last;
    return isDue ? [{ name, last }] : [];
  });
  return due.sort((a, b) => a.last - b.last || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
}
