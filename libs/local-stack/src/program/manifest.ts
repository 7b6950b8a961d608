// Which files a bundle was made of, and whether they are still the same.

import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../error.ts";

/** Size and time of the last change of each input, by its path relative to the checkout. */
type Manifest = { node: string; inputs: Record<string, string> };

export const manifestFile = "manifest.json";

// The clock of a file system may be a tick of the kernel behind.
const clockStepMs = 20;

/**
 * Size and change time in nanoseconds. No program can set the change time, unlike the modification time: a file that was
 * written has another one, also when its content came from a backup or from git.
 */
function stampOf(path: string): { stamp: string; changedMs: number } {
  const { size, ctimeNs, ctimeMs } = statSync(path, { bigint: true });
  return { stamp: `${size} ${ctimeNs}`, changedMs: Number(ctimeMs) };
}

/**
 * Describes the inputs of a build that began at `startedAt`. An input that changed since then may have been read
 * before or after; its stamp never matches, so the next start builds again.
 */
export function describeInputs(repo: string, paths: readonly string[], startedAt: number): Manifest {
  const inputs = paths.toSorted().map((path) => {
    const { stamp, changedMs } = stampOf(join(repo, path));
    return [path, changedMs >= startedAt - clockStepMs ? "changed during the build" : stamp];
  });
  return { node: process.version, inputs: Object.fromEntries(inputs) };
}

/** Name of the folder for a build of these inputs. */
export function digestOf(manifest: Manifest): string {
  return createHash("sha256").update(JSON.stringify(manifest)).digest("hex").slice(0, 16);
}

/** Whether the build in `folder` was made by this Node of the files as they are now. */
export function isCurrent(repo: string, folder: string): boolean {
  try {
    const { node, inputs } = JSON.parse(readFileSync(join(folder, manifestFile), "utf8")) as Manifest;
    if (node !== process.version) return false;
    return Object.entries(inputs).every(([path, stamp]) => stampOf(join(repo, path)).stamp === stamp);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || error instanceof SyntaxError) return false;
    throw error;
  }
}
