import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { removeTree } from "../remove-tree.ts";
import type { ContainerProcess } from "./processes.ts";
import { findContainerProcesses, signal } from "./processes.ts";

/**
 * Finds processes that an earlier run of the cluster left. Processes of pods that are gone or ended, and those that
 * outlived
 * their container, are killed; directories of pods that are gone are removed. Returns the processes to take over.
 */
export async function sweep(
  podsDir: string,
  pods: { known: Set<string>; living: Set<string> },
): Promise<ContainerProcess[]> {
  const found = await findContainerProcesses(podsDir);
  const attended = new Set(found.filter((one) => one.isShim).map((one) => one.runDir));
  const podOf = ({ runDir }: ContainerProcess) => relative(podsDir, runDir).split(sep)[0] ?? "";
  const kept = found.filter((one) => pods.living.has(podOf(one)) && attended.has(one.runDir));
  for (const one of found) {
    if (!kept.includes(one)) signal(one.pid, "SIGKILL");
  }
  const names = await readdir(podsDir).catch(() => []);
  const stale = names.filter((name) => !pods.known.has(name));
  await Promise.all(stale.map((name) => removeTree(join(podsDir, name))));
  return kept;
}
