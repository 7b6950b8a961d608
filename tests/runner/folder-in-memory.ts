// A folder in memory for what a test writes and throws away.

import { existsSync, readFileSync, statfsSync } from "node:fs";

const folder = "/dev/shm";

/** Memory that the kernel could give out now, in bytes. */
function availableMemory(): number {
  const [, kibibytes = "0"] = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8")) ?? [];
  return Number(kibibytes) * 1_024;
}

/** Its path where the machine has one with room, and memory, for so many bytes. */
export function folderInMemory(bytes: number): string | undefined {
  if (!existsSync(folder)) return undefined;
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(bavail * bsize, availableMemory()) >= bytes ? folder : undefined;
}
