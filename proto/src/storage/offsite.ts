// What ops-watchdog asks of storage to keep off-site copies of archives (docs/reference/off-site.md#archives).
// Vocabulary: copy = the sealed object of an archive in the bucket; local = the file in the archive folder.

import { z } from "zod";
import { cursor, page, request } from "../contract.ts";
import { Sha256Hex, Timestamp } from "../text.ts";
import { BackupId } from "./backup.ts";

const callers = ["ops-watchdog", "operator"] as const;
const spec = "docs/reference/off-site.md#archives";

/** One backup whose archive is here, or whose copy is in the bucket. */
export const OffsiteArchive = z.strictObject({
  id: BackupId,
  /** File name, unique over all time. */
  archive: z.string(),
  server: z.string(),
  size_bytes: z.number().int().min(0),
  sha256: Sha256Hex,
  /** `expired`: its file is about to be deleted; `deleted`: only its copy is left. */
  status: z.enum(["present", "expired", "deleted"]),
  created_at: Timestamp,
  expires_at: Timestamp,
  /** When its copy was confirmed. */
  offsite_at: Timestamp.optional(),
  /** `other_size`: there is a file of this name that cannot be this archive. */
  local: z.enum(["whole", "missing", "other_size"]),
  /** It is here as chunks in packs (docs/reference/backups.md#deduplicated), which may be copied instead. */
  is_deduplicated: z.boolean().optional(),
  /** Verification found it damaged. */
  is_corrupt: z.boolean(),
});
export type OffsiteArchive = z.output<typeof OffsiteArchive>;

export const listArchives = request({
  subject: "storage.offsite.list-archives",
  input: cursor,
  output: page(OffsiteArchive).extend({
    /** The longest that any archive is kept: one without a row may be older than all that had one. */
    longest_retention_seconds: z.number().int().min(0),
  }),
  callers,
  idempotent: true,
  deadlineMs: 30_000,
  summary:
    "Every backup that is not deleted, and those deleted whose copy is recorded, in order of their ids.",
  spec,
});

export const readArchive = request({
  subject: "storage.offsite.read-archive",
  input: { id: BackupId },
  output: z.unknown(),
  faults: ["no_backup", "backup_corrupt"],
  callers,
  deadlineMs: 30_000,
  summary:
    "Sends the bytes of an archive by byte transfer; the caller compares them with the recorded digest.",
  spec,
});

export const readChunks = request({
  subject: "storage.offsite.read-chunks",
  input: {
    id: BackupId,
    /** One that its manifest names; without it the manifest is sent. */
    pack: z.string().max(300).optional(),
  },
  output: z.unknown(),
  faults: ["no_backup", "backup_corrupt"],
  callers,
  deadlineMs: 30_000,
  summary:
    "Sends the manifest of a deduplicated archive, or one of its packs, by byte transfer; the caller compares the chunks with their digests.",
  spec,
});

export const writeArchive = request({
  subject: "storage.offsite.write-archive",
  input: { id: BackupId },
  output: z.unknown(),
  faults: ["no_backup", "digest_mismatch", "backup_corrupt", "backup_store_full"],
  callers,
  deadlineMs: 30_000,
  summary:
    "Takes back the bytes of an archive whose file is missing; they are stored only when size and digest are the recorded ones.",
  spec,
});

export const recordCopies = request({
  subject: "storage.offsite.record-copies",
  input: {
    copies: z
      .array(
        z.strictObject({
          id: BackupId,
          /** Recorded only for a backup with this digest. */
          sha256: Sha256Hex,
          /** When its copy was confirmed; null: there is none any more. */
          at: Timestamp.nullable(),
        }),
      )
      .min(1)
      .max(500),
  },
  output: z.strictObject({ recorded: z.number().int() }),
  callers,
  idempotent: true,
  summary: "Records which archives have a copy in the bucket.",
  spec,
});

export const confirmCopies = request({
  subject: "storage.offsite.confirm-copies",
  /** When the bucket was listed. */
  input: { listed_at: Timestamp },
  output: z.null(),
  callers,
  idempotent: true,
  summary: "All recorded copies were in the bucket, with their sizes, at this time.",
  spec,
});
