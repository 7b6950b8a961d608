// What follows a safety snapshot (docs/reference/restore.md#chain). Pure.
//
// pending -> started     the snapshot exists, the server is still stopped, and nobody else locks its world
//         -> abandoned   anything else; the world stays as it was
// Meanwhile the label of the snapshot's Job locks the world. Once the label changes the world is free, so from then on the
// restore either exists already or never will.

import type { ThenRestoreReason } from "../database/tables.ts";

export type Observed = {
  snapshot: "running" | "succeeded" | "failed";
  /** No file was left out of the snapshot because it could not be read. */
  isSnapshotWhole: boolean;
  /** Whether the snapshot's Job still locks the world; false also when the Job is gone. */
  isHeld: boolean;
  /** Whether the restore's Job already exists. */
  hasRestore: boolean;
  isConfigured: boolean;
  server: "gone" | "started" | "stopped";
  /** Whether the server still has the owner of the time of the request. */
  isSameOwner: boolean;
  /** The backup is present and not corrupt. */
  isBackupUsable: boolean;
};

export type Plan = "wait" | "start" | { abandon: ThenRestoreReason };

export function decideAfterSnapshot(observed: Observed): Plan {
  if (observed.snapshot === "running") return "wait";
  if (observed.hasRestore) return "start";
  if (observed.snapshot === "failed" || !observed.isSnapshotWhole) return { abandon: "snapshot_failed" };
  if (!observed.isConfigured) return { abandon: "not_configured" };
  if (observed.server === "gone" || !observed.isSameOwner) return { abandon: "server_gone" };
  if (observed.server === "started") return { abandon: "server_started" };
  if (!observed.isHeld || !observed.isBackupUsable) return { abandon: "restore_busy" };
  return "start";
}
