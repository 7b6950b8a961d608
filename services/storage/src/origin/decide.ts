// The next step of a world on its way to a clone (docs/reference/clones.md#world). Every effect may be repeated.
//
// backing_up -> restoring  the new backup of the source is there, and whole
//            -> failed     it could not be made
// restoring  -> done       the Job has restored the world, and the clone is unlocked
//            -> failed     the Job failed or died, or the backup is gone
// failed     -> (any)      by a retry only; the clone stays locked
// any        -> given_up   the clone is being deleted, is gone, or was unlocked by somebody else
//
// The lock is released in two cases: the whole world is there, or the clone is being deleted. Pure.

import type { origins } from "@svc/proto";

export type Failure = { readonly code: origins.OriginCode; readonly message: string };

export type Observed = {
  readonly state: "backing_up" | "restoring" | "failed";
  /** `unlocked`: it carries another lock than ours, or none. `unsettled`: its object was not seen by the operator yet. */
  readonly clone: "gone" | "unlocked" | "unsettled" | "at_rest";
  readonly isRetiring: boolean;
  /** The attempt has waited for very long. */
  readonly isLate: boolean;
  /** The Job of this attempt: the backup's in `backing_up`, else the restore's. */
  readonly job: "none" | "under_way" | "succeeded" | Failure;
  /** The backup to restore; of a new one, what became of it. */
  readonly backup: "none" | "sound" | "incomplete" | "corrupt";
};

export type Plan =
  | { readonly action: "wait" | "start-backup" | "use-backup" | "start-restore" }
  /** Unlocks the clone and ends. */
  | { readonly action: "end"; readonly state: "done" | "given_up"; readonly unlocks: boolean }
  | { readonly action: "fail"; readonly failure: Failure };

const wait: Plan = { action: "wait" };

export function decideOrigin(observed: Observed): Plan {
  const { state, clone, job, isRetiring } = observed;
  // The lock may be released already, by a process that died before it recorded that.
  if (state === "restoring" && job === "succeeded" && clone !== "gone")
    return { action: "end", state: "done", unlocks: clone !== "unlocked" };
  if (clone === "gone" || clone === "unlocked") return { action: "end", state: "given_up", unlocks: false };
  if (job === "under_way") return wait;
  if (isRetiring) return { action: "end", state: "given_up", unlocks: true };
  if (state === "failed") return wait;
  if (typeof job === "object") return { action: "fail", failure: job };
  return state === "backing_up" ? decideBackup(observed) : decideRestore(observed);
}

function decideBackup({ job, backup }: Observed): Plan {
  if (job === "none") return { action: "start-backup" };
  if (backup === "sound") return { action: "use-backup" };
  if (backup !== "incomplete") return fail("backup_gone", "the new backup is gone or cannot be used");
  return fail(
    "backup_incomplete",
    "files of the source could not be read, so its new backup lacks them; name that backup if it is enough",
  );
}

function decideRestore({ clone, backup, isLate }: Observed): Plan {
  // Somebody asked for this backup, so one that lacks files is theirs to judge.
  if (backup === "none" || backup === "corrupt")
    return fail("backup_gone", "the backup is gone or cannot be used");
  if (clone === "at_rest") return { action: "start-restore" };
  return isLate ? fail("copy_failed", "the clone does not come to rest; its conditions say why") : wait;
}

function fail(code: origins.OriginCode, message: string): Plan {
  return { action: "fail", failure: { code, message } };
}
