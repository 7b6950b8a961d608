import type { Right } from "../access/presets.ts";
import type { Output } from "../api/operations.ts";
import type { Job } from "../jobs/job.ts";

export type Backup = Output<"backups.list">["backups"][number];
export type Drill = Output<"drills.list">["drills"][number];

/** The newest drill of a backup. */
export function newestDrill(drills: readonly Drill[], backupId: string): Drill | undefined {
  return drills.find(({ backup_id }) => backup_id === backupId);
}

/** The world as it was before a restore, where it was backed up first: what leads back. */
export function backupBefore(
  backups: readonly Backup[],
  restore: Pick<Job, "kind" | "state" | "started_at" | "finished_at"> | undefined,
): Backup | undefined {
  const { kind, state, started_at, finished_at } = restore ?? {};
  if (kind !== "restore" || state !== "succeeded" || finished_at === undefined) return undefined;
  const earliest = Date.parse(started_at ?? finished_at) - snapshotMs;
  const isBefore = ({ reason, corrupt = false, created_at }: Backup) => {
    const at = Date.parse(created_at);
    return reason === "pre_restore" && !corrupt && at >= earliest && at <= Date.parse(finished_at);
  };
  return backups.find(isBefore);
}

/** A snapshot of a large world takes a while, and the restore begins when it is made. */
const snapshotMs = 60 * 60_000;

/** What a backup can be compared with, of the newest: sound ones; the last one before it comes first. */
export function basesOf(backups: readonly Backup[], { id, created_at }: Backup): Backup[] {
  const others = backups.filter((other) => other.id !== id && !other.corrupt);
  const isEarlier = (other: Backup) => Date.parse(other.created_at) <= Date.parse(created_at);
  return [...others.filter(isEarlier), ...others.filter((other) => !isEarlier(other))];
}

/** Who asks, and whether the world is at rest and free. */
export type BackupRights = {
  isStaff: boolean;
  isAsleep: boolean;
  isBusy: boolean;
  /** What the access of a member does not include; nothing for owner and staff. */
  lacks?: readonly Right[];
  /** The access covers some files and folders alone, of what is read or of what is changed. */
  readsSome?: boolean;
  writesSome?: boolean;
};

type BackupActs = {
  /** Putting it back needs a world at rest and a sound archive. */
  restore: boolean;
  label: boolean;
  browse: boolean;
  /** What it has otherwise than another one. */
  compare: boolean;
  download: boolean;
  drill: boolean;
  pin: "pin" | "unpin" | "none";
  remove: boolean;
};

/** What can be done with a whole backup; the service decides again (docs/reference/backups.md#pin). */
export function decideActs(
  { corrupt = false, pinned_by }: Backup,
  { isStaff, isAsleep, isBusy, lacks = [], readsSome = false, writesSome = false }: BackupRights,
): BackupActs {
  const isTheirs = pinned_by === "staff" && !isStaff;
  const has = (right: Right) => !lacks.includes(right);
  const mayKeep = has("backups.make");
  return {
    restore: !corrupt && isAsleep && !isBusy && has("backups.restore") && !writesSome,
    label: mayKeep,
    browse: !corrupt && has("backups.download"),
    compare: !corrupt && has("backups.download") && !readsSome,
    download: !corrupt && has("backups.download") && !readsSome,
    drill: !corrupt && mayKeep,
    pin: isTheirs || !mayKeep ? "none" : pinned_by === undefined ? "pin" : "unpin",
    remove: (pinned_by === undefined || isStaff) && has("backups.delete"),
  };
}
