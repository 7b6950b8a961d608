// Files that differ, as a world Job names them (docs/reference/backups.md#changes, docs/reference/restore.md#plan).

import { z } from "zod";

export const FileChange = z.strictObject({
  path: z.string(),
  change: z.enum(["added", "changed", "removed"]),
  /** As it is now; as it was, where it was removed. */
  size: z.number().int().min(0),
});

/** Files that differ between two archives. */
export const ArchiveChanges = z.strictObject({
  added: z.number().int().min(0),
  changed: z.number().int().min(0),
  removed: z.number().int().min(0),
  same: z.number().int().min(0),
  /** The first by path. */
  files: z.array(FileChange),
  /** False when files of the same size, of which one has no digest, were told apart by their times. */
  exact: z.boolean(),
  truncated: z.boolean(),
});
export type ArchiveChanges = z.output<typeof ArchiveChanges>;

const count = z.number().int().min(0);

export const RestoreChange = z.strictObject({
  path: z.string(),
  change: z.enum(["added", "changed", "removed"]),
  /** Bytes as it is in the backup; as it is now, where it is removed. */
  size: count,
  /** Bytes as it is now, of what is changed. */
  was: count.optional(),
  /** The size is the same, the time is another one, and nothing tells whether the content is the same. */
  may_be_same: z.literal(true).optional(),
});
export type RestoreChange = z.output<typeof RestoreChange>;

/** What a restore would do to the world as it is now. */
export const RestoreChanges = z.strictObject({
  added: count,
  changed: count,
  removed: count,
  same: count,
  /** Of `changed`. */
  may_be_same: count,
  /** Sums of the sizes. */
  added_bytes: count,
  changed_bytes: count,
  removed_bytes: count,
  /** The first by path. */
  files: z.array(RestoreChange),
  truncated: z.boolean(),
});
export type RestoreChanges = z.output<typeof RestoreChanges>;
