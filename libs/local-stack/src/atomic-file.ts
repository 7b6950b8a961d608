import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { errorCode } from "./error.ts";

/**
 * Writes a file atomically: temporary file beside it, fsync, rename. The mode is 0600 unless
 * given. Synchronous, so that a pid is on disk before anything else can happen.
 */
export function writeFileAtomic(path: string, content: string | Buffer, mode = 0o600): void {
  const partial = `${path}.${randomBytes(6).toString("hex")}.partial`;
  const file = openSync(partial, "wx", mode);
  try {
    const bytes = Buffer.from(content);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(partial, path);
}

/** The text of a file, or undefined if it does not exist. */
export function findText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
