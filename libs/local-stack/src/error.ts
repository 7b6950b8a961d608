/**
 * An error of the local stack for the user: what is wrong and what to do.
 * Commands print `message` alone and end with a non-zero code (docs/reference/local-stack.md#parts).
 */
export class StackError extends Error {
  override name = "StackError";
}

/** The `code` of a Node system error (`ENOENT`, `EADDRINUSE`, …), or undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The text of whatever was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const diskFaults: Record<string, (path: string) => string> = {
  ENOSPC: (path) =>
    `the disk that holds ${path} is full; free some space or choose another folder with --data`,
  EDQUOT: (path) =>
    `your disk quota for ${path} is used up; free some space or choose another folder with --data`,
  EROFS: (path) => `${path} is on a read-only file system; choose another folder with --data`,
  EACCES: (path) =>
    `${path} is not writable for this user; fix its owner or choose another folder with --data`,
  EPERM: (path) =>
    `${path} is not writable for this user; fix its owner or choose another folder with --data`,
  ENOTDIR: (path) => `a part of ${path} is a file, not a folder; choose another folder with --data`,
};

/** Turns a file system error about the data folder into a `StackError`; any other error is returned unchanged. */
export function explainDiskFault(error: unknown, path: string): unknown {
  const explain = diskFaults[errorCode(error) ?? ""];
  return explain ? new StackError(explain(path)) : error;
}
