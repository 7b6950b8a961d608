// Names and labels of world Jobs (docs/reference/server-resource.md#labels, docs/reference/world-lock.md#lock).

import { randomBytes } from "node:crypto";
import { worldJobLabels } from "@svc/world-lock";

const prefix = "svc.internal";

export const label = {
  ...worldJobLabels,
  scheduled: `${prefix}/scheduled`,
  component: `${prefix}/component`,
};

export const annotation = {
  restoreRef: `${prefix}/restore-ref`,
  restoreBackupId: `${prefix}/restore-backup-id`,
  /** Why the pod of the Job has no node. */
  waitsBecause: `${prefix}/waits-because`,
} as const;

/** Which part of storage a Job belongs to; `svc-verify` Jobs do not lock a world. */
export type Manager = "svc-backup" | "svc-restore" | "svc-export" | "svc-files" | "svc-verify";

/** `<what>-<server>-<random>`, short enough for the label with the Job's name on its pods. */
export function newJobName(what: string, server: string): string {
  return `${what}-${server}-${randomBytes(5).toString("hex")}`;
}

/** Name of the Job that follows another: it reuses the random part, so that retries create it once. */
export function jobNameAfter(job: string, what: string, server: string): string {
  return `${what}-${server}-${job.split("-").at(-1)}`;
}

/** Name of a new archive: `<server>-<unix nanoseconds>.tar.zst` (docs/reference/backups.md#archive). */
export function newArchiveName(server: string, now: number, compression: "zstd" | "gzip"): string {
  const nanos = BigInt(now) * 1_000_000n + BigInt(randomBytes(3).readUIntBE(0, 3) % 1_000_000);
  return `${server}-${nanos}.tar.${compression === "zstd" ? "zst" : "gz"}`;
}
