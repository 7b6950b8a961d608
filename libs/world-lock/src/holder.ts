import type { Job } from "@svc/kube";
import type { Task } from "@svc/proto/world-task";
import { type LockedServer, maintenanceAnnotation, worldJobLabels } from "./names.ts";

/** Why a world is locked. An annotation may carry a kind that only a newer version knows; it holds too. */
export type LockKind = "restore" | "backup" | "file-write" | "export" | "reap" | "migration";

/** Who holds the lock of a world: a lock annotation with its exact value, or a Job with its name. */
export type Holder = { kind: string } & ({ by: "annotation"; value: string } | { by: "job"; job: string });

/** A parsed lock annotation; `at` in Unix milliseconds. */
type LockAnnotation = { kind: string; at: number };

/** A lock that has not been refreshed for this many milliseconds has expired (docs/reference/world-lock.md#lock). */
export const lockTtlMs = 120_000;

const kindOfManager: Readonly<Record<string, LockKind>> = {
  "svc-restore": "restore",
  "svc-backup": "backup",
  "svc-files": "file-write",
  "svc-export": "export",
};
const readingModes: ReadonlySet<string> = new Set<Task["mode"]>([
  "list",
  "read",
  "search",
  "changed",
  "plugins",
]);
const endings: ReadonlySet<string> = new Set(["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"]);
const lockShape = /^([a-z][a-z-]{0,31})@(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))$/;

/** Whether a files Job of this mode changes nothing: it takes no lock, and holds no world (docs/reference/world-lock.md#lock). */
export function isReadingMode(mode: string): boolean {
  return readingModes.has(mode);
}

/** Reads `<kind>@<RFC 3339 time>`; undefined for anything else. */
export function parseLock(value: string | undefined): LockAnnotation | undefined {
  const [, kind, time] = lockShape.exec(value ?? "") ?? [];
  if (kind === undefined || time === undefined) return undefined;
  const at = Date.parse(time);
  return Number.isNaN(at) ? undefined : { kind, at };
}

/** The value of a lock annotation acquired or refreshed at `at` (Unix milliseconds). */
export function lockValue(kind: LockKind, at: number): string {
  return `${kind}@${new Date(at).toISOString()}`;
}

/** True for a Job that has ended or is about to (docs/reference/world-lock.md#lock). */
export function isJobFinished({ status }: Pick<Job, "status">): boolean {
  return (
    status?.conditions?.some(({ type, status: value }) => endings.has(type) && value === "True") ?? false
  );
}

/**
 * Who holds the lock of the world of a server at `now` (Unix milliseconds), by its lock annotation and the Jobs that carry its
 * label; undefined when nobody does. A Job takes precedence: it is what works on the world (docs/reference/world-lock.md#lock).
 */
export function holderOf(
  server: Pick<LockedServer, "metadata">,
  jobs: readonly Job[],
  about: { now: number; ttlMs?: number },
): Holder | undefined {
  for (const job of jobs) {
    const kind = heldBy(job, server.metadata.name);
    if (kind !== undefined) return { kind, by: "job", job: job.metadata.name };
  }
  return lockHolderOf(server, about);
}

/** As `holderOf`, by the annotation alone, where Jobs cannot be listed. */
export function lockHolderOf(
  { metadata }: Pick<LockedServer, "metadata">,
  about: { now: number; ttlMs?: number },
): Holder | undefined {
  const value = metadata.annotations?.[maintenanceAnnotation];
  const lock = parseLock(value);
  if (!lock || value === undefined) return undefined;
  const { now, ttlMs = lockTtlMs } = about;
  // The lock of a move lasts until the move releases it, however long its process is down.
  const isValid = lock.kind === "migration" || Math.abs(now - lock.at) < ttlMs;
  return isValid ? { kind: lock.kind, by: "annotation", value } : undefined;
}

function heldBy(job: Job, server: string): LockKind | undefined {
  const labels = job.metadata.labels ?? {};
  if (labels[worldJobLabels.server] !== server) return undefined;
  const kind = kindOfManager[labels[worldJobLabels.managedBy] ?? ""];
  if (kind === undefined) return undefined;
  if (kind === "backup" && labels[worldJobLabels.thenRestore] === "pending") return kind;
  // A files Job without a mode is assumed to write.
  if (kind === "file-write" && isReadingMode(labels[worldJobLabels.filesMode] ?? "")) return undefined;
  return isJobFinished(job) ? undefined : kind;
}
