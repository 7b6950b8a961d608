// Ends what a test file left running.

import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Kills every process whose command line or environment names this folder; does nothing where there is no /proc. */
export function killBelow(folder: string): void {
  if (!existsSync("/proc/self")) return;
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    if (![`/proc/${pid}/cmdline`, `/proc/${pid}/environ`].some((path) => read(path).includes(folder)))
      continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
