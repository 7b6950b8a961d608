// What follows a safety snapshot (docs/reference/restore.md#chain). Pure.
//
// pending -> started     the snapshot is there, the server still rests, and nobody else has its world
//         -> abandoned   anything else; the world stays as it was
// The snapshot's label on the cluster holds the world meanwhile. Once the label says something else the world is free,
// so that from then on the restore either exists already or never comes.

import type { ThenRestoreReason } from "../database/tables.ts";

export type ObservedSnapshot = {
  snapshot: "running" | "succeeded" | "failed";
  /** Nothing of the world was left out of the snapshot because it could not be read. */
  isSnapshotWhole: boolean;
  /** Whether the snapshot's Job still holds the world; false also when the Job is gone. */
  isHeld: boolean;
  /** Whether the restore's Job is there: made before this process looked. */
  hasRestore: boolean;
  isConfigured: boolean;
  server: "gone" | "started" | "stopped";
  /** Whose server it was when the restore was asked for is who owns it now. */
  isSameOwner: boolean;
  /** The backup is present and sound. */
  isBackupUsable: boolean;
};

export type SnapshotPlan = "wait" | "start" | { abandon: ThenRestoreReason };

export function decideAfterSnapshot(look: ObservedSnapshot): SnapshotPlan {
  if (look.snapshot === "running") return "wait";
  if (look.hasRestore) return "start";
  if (look.snapshot === "failed" || !look.isSnapshotWhole) return { abandon: "snapshot_failed" };
  if (!look.isConfigured) return { abandon: "not_configured" };
  if (look.server === "gone" || !look.isSameOwner) return { abandon: "server_gone" };
  if (look.server === "started") return { abandon: "server_started" };
  if (!look.isHeld || !look.isBackupUsable) return { abandon: "restore_busy" };
  return "start";
}
