import { existsSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { StackError } from "../error.ts";
import { endProcess } from "../process/identity.ts";
import { openRegistry } from "../supervisor/registry.ts";
import { endContainers } from "./end-containers.ts";
import { layout } from "./layout.ts";
import { findSupervisor, takeLock } from "./lock.ts";

// The supervisor itself takes at most 25 s and a little.
const stopWithinMs = 30_000;
const lockPollMs = 50;
// As long as the cluster would have given them.
const containersWithinMs = 18_000;

/**
 * Stops the stack of a data folder and waits until all its processes are gone, including those that a killed supervisor
 * left. False when nothing was running.
 */
export async function down(options: { data: string }): Promise<boolean> {
  if (!existsSync(options.data)) return false;
  const paths = layout(options.data);
  const supervisor = findSupervisor(paths.supervisorFile);
  if (supervisor) {
    await endProcess(supervisor, [
      { signal: "SIGTERM", waitMs: stopWithinMs },
      { signal: "SIGKILL", waitMs: 2_000 },
    ]);
  }
  const end = Date.now() + 5_000;
  let unlock = await takeLock(options.data);
  while (!unlock) {
    if (Date.now() > end) {
      throw new StackError(`the stack on ${options.data} is starting or stopping; try again in a moment`);
    }
    await sleep(lockPollMs);
    unlock = await takeLock(options.data);
  }
  try {
    const orphans = await openRegistry(paths.run).clear();
    const hadContainers = await endContainers(paths, containersWithinMs);
    for (const file of [paths.stackFile, paths.supervisorFile]) rmSync(file, { force: true });
    return supervisor !== undefined || orphans.length > 0 || hadContainers;
  } finally {
    await unlock();
  }
}
