// A folder in memory for what a test writes and throws away.

import { existsSync, statfsSync } from "node:fs";
import { freemem } from "node:os";

const folder = "/dev/shm";

/** Names the folder of the run, which removes it at its end, also where a test was killed. */
export const runFolderVariable = "SVC_TEST_MEMORY_DIR";

/** Its path where the machine has one with room, and memory, for so many bytes. */
export function folderInMemory(bytes: number): string | undefined {
  if (!existsSync(folder)) return undefined;
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(bavail * bsize, freemem()) >= bytes ? folder : undefined;
}
