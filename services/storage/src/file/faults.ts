// Maps failures of file Jobs to faults.

import { Fault, type FaultName, type files } from "@svc/proto";
import type { TaskFault } from "@svc/proto/world-task";
import type { Outcome } from "../job/outcome.ts";

const named: Partial<Record<TaskFault["code"], FaultName>> = {
  file_exists: "file_exists",
  volume_full: "volume_full",
  file_changed: "file_changed",
  not_found: "not_found",
  bad_path: "bad_path",
  too_large: "too_large",
  digest_mismatch: "digest_mismatch",
  // A folder instead of a file, or the other way round.
  type_conflict: "bad_path",
  // The Job could not fetch the staged file: nothing was changed.
  transfer_failed: "unavailable",
};

const brokenRetrySeconds = 5;

/**
 * The fault of a Job with a waiting caller. When the Job was killed, evicted, late or out of memory, the request may be
 * sent again. A code that maps to no fault is an internal error.
 */
export function faultOf(
  outcome: Exclude<Outcome, { kind: "done" }>,
  { isReader }: { isReader: boolean },
): Error {
  if (outcome.kind === "broken") {
    const message = isReader
      ? "The file job ended without a result; try again."
      : "The file job ended without a result, so the change may or may not be done. Check the files, then try again.";
    return new Fault("unavailable", { message, retryAfterSeconds: brokenRetrySeconds });
  }
  const name = named[outcome.fault.code];
  if (!name) return new Error(`file job failed with an unmapped code: ${outcome.fault.code}`);
  return new Fault(name, { message: outcome.fault.message });
}

const opCodes: ReadonlySet<string> = new Set([
  "file_exists",
  "volume_full",
  "file_changed",
  "not_found",
  "bad_path",
  "archive_invalid",
  "archive_unsafe",
  "archive_symlink",
  "type_conflict",
]);

/** How an operation failed (docs/reference/files.md#background). */
export function opErrorOf(outcome: Exclude<Outcome, { kind: "done" }>): files.FileOpError {
  if (outcome.kind === "broken") return { code: "job_failed", message: outcome.message };
  const { code, avail, ...rest } = outcome.fault;
  // `avail` is omitted when nothing is left.
  const room = avail === undefined || avail === 0 ? {} : { avail };
  return { ...rest, ...room, code: opCodes.has(code) ? code : "job_failed" };
}
