// The next step of a move. Every effect may be repeated and may be the last of its process; the state changes only when
// its precondition holds.
//
// (no lock)  -> backing_up  the server has the lock of the move; a move that never got it is deleted
// backing_up -> restoring   the archive folder has the archive (its receipt says so), and its row is written
// restoring  -> switching   every file of the archive is in the new volume, compared
// switching  -> succeeded   the server names the new node and volume, and its lock is gone, by one write
// any        -> failed      the Job failed, or the world was changed; the lock stays, the source is kept
//
// Until the switch a move can be cancelled (cancel.ts); cancel-cleanup.ts does what that leaves to do. Pure.

import type { BackupRow } from "../database/tables.ts";
import type { Receipt } from "../job/archive-ticket-store.ts";
import { failureOf, type JobState } from "../job/outcome.ts";

/** Both ends of a move while its world is copied. */
export type Ends = {
  /** The server as lifecycle describes it; undefined when it is gone. */
  readonly world: { readonly stopped: boolean; readonly volume_claim: string } | undefined;
  readonly holdsLock: boolean;
  readonly canTargetTakeWorlds: boolean;
  /** The volume of the world; undefined when it is missing or not bound. */
  readonly source:
    | { readonly uid: string; readonly node: string | undefined; readonly isOnline: boolean }
    | undefined;
};

export type Observed =
  | { readonly step: "locking"; readonly holdsLock: boolean; readonly ageMs: number }
  | {
      readonly step: "backing_up";
      readonly ends: Ends;
      readonly job: JobState;
      readonly receipt: Receipt | undefined;
    }
  | {
      readonly step: "restoring";
      readonly ends: Ends;
      readonly job: JobState;
      readonly backup: BackupRow | undefined;
    }
  | {
      readonly step: "switching";
      /** Whether no Job or pod of the move is left. */
      readonly areJobsGone: boolean;
      /** The node of the new volume. */
      readonly targetNode: string | undefined;
    };

/** The source and target recorded when the move started. */
export type Agreed = {
  readonly source_node: string;
  readonly source_claim: string;
  readonly source_claim_uid: string;
  readonly target_node: string;
};

export type Plan =
  | { readonly action: "wait" }
  | { readonly action: "note-lock" }
  | { readonly action: "delete-unlocked" }
  | { readonly action: "start-backup" }
  | { readonly action: "record-backup"; readonly receipt: Receipt; readonly skippedEntries: number }
  | { readonly action: "prepare-target"; readonly restoreFrom: BackupRow | undefined }
  | { readonly action: "advance" }
  | { readonly action: "end-jobs" }
  | { readonly action: "switch" }
  | { readonly action: "fail"; readonly message: string };

const maxMessage = 500;

/** The next step; `patienceMs` is how long a starting move may take to acquire its lock. */
export function decideMove(observed: Observed, agreed: Agreed, patienceMs: number): Plan {
  if (observed.step === "locking") return decideLocking(observed, patienceMs);
  if (observed.step === "switching") return decideSwitching(observed, agreed);
  const disturbance = findDisturbance(observed.ends, agreed);
  if (disturbance !== undefined) return { action: "fail", message: disturbance };
  return observed.step === "backing_up" ? decideBackup(observed) : decideRestore(observed);
}

/** A start that died between its row and its response: the lock shows whether the move has started. */
function decideLocking(
  { holdsLock, ageMs }: Extract<Observed, { step: "locking" }>,
  patienceMs: number,
): Plan {
  if (holdsLock) return { action: "note-lock" };
  return { action: ageMs > patienceMs ? "delete-unlocked" : "wait" };
}

/** Why the copy cannot go on: the world must be stopped, locked by the move, and both ends where they were. */
function findDisturbance(
  { world, holdsLock, canTargetTakeWorlds, source }: Ends,
  agreed: Agreed,
): string | undefined {
  if (!world) return "the server is gone";
  if (!holdsLock) return "the lock of the move was removed";
  if (!world.stopped) return "the server was started";
  if (world.volume_claim !== agreed.source_claim) return "the server now uses another volume";
  if (!canTargetTakeWorlds) return `the node ${agreed.target_node} cannot take worlds at the moment`;
  if (source?.uid !== agreed.source_claim_uid) return "the world's volume was replaced";
  if (source.node !== agreed.source_node) return "the world's volume was moved";
  return source.isOnline ? undefined : `the node ${agreed.source_node} is offline`;
}

function decideBackup({ job, receipt }: Extract<Observed, { step: "backing_up" }>): Plan {
  if (job === "running") return { action: "wait" };
  if (!receipt) {
    if (job === "none") return { action: "start-backup" };
    return { action: "fail", message: failureOf(job) ?? "the archive did not arrive" };
  }
  // What the Job says after its receipt changes nothing: the archive is whole.
  const done = job !== "none" && job.kind === "done" ? job.done : undefined;
  if (done?.unreadable_entries) {
    const names = done.skipped_names?.join(", ") ?? "";
    const message = `${done.unreadable_entries} files of the world cannot be read: ${names}`;
    return { action: "fail", message: message.slice(0, maxMessage) };
  }
  return { action: "record-backup", receipt, skippedEntries: done?.skipped_entries ?? 0 };
}

function decideRestore({ backup, job }: Extract<Observed, { step: "restoring" }>): Plan {
  if (!backup || backup.corrupt_at)
    return { action: "fail", message: "the backup of this move is gone or corrupt" };
  if (job === "none") return { action: "prepare-target", restoreFrom: backup };
  if (job === "running") return { action: "prepare-target", restoreFrom: undefined };
  const message = failureOf(job);
  return message === undefined ? { action: "advance" } : { action: "fail", message };
}

/** Nothing may read or write either volume any more when the server is switched to the new one. */
function decideSwitching(
  { areJobsGone, targetNode }: Extract<Observed, { step: "switching" }>,
  { target_node }: Agreed,
): Plan {
  if (!areJobsGone) return { action: "end-jobs" };
  if (targetNode === target_node) return { action: "switch" };
  return { action: "fail", message: `the new volume is not on ${target_node}` };
}
