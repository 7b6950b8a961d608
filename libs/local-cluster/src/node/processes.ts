import { readdirSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";

/** The variable that marks every process of a container; its value is the directory of the run. */
export const RUN_VARIABLE = "SVC_RUN";

export type ContainerProcess = { pid: number; runDir: string; isShim: boolean };

/** False for a process that is gone or a zombie. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !["Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2)[0] ?? "X");
  } catch {
    return false;
  }
}

async function inspect(pid: number, podsDir: string): Promise<ContainerProcess | undefined> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1");
    const mark = `${RUN_VARIABLE}=${podsDir}/`;
    const entry = environment.split("\0").find((one) => one.startsWith(mark));
    if (entry === undefined || !isAlive(pid)) return undefined;
    const command = (await readFile(`/proc/${pid}/cmdline`, "latin1")).split("\0");
    const isShim = command[1]?.endsWith("/container.sh") ?? false;
    return { pid, runDir: entry.slice(RUN_VARIABLE.length + 1), isShim };
  } catch {
    // Gone in the meantime, or of another user: neither is ours.
    return undefined;
  }
}

/** Every process on this machine that belongs to a container below `podsDir`. */
export async function findContainerProcesses(podsDir: string): Promise<ContainerProcess[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => inspect(pid, podsDir)));
  return found.filter((one) => one !== undefined);
}

/** Sends a signal; false when the process does not exist. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

/** The process group of a container has the pid of its shim. */
export function killGroup(shimPid: number): void {
  signal(-shimPid, "SIGKILL");
}

/** The numbered run directories of a container, oldest first. */
export function attemptsIn(runsDir: string): number[] {
  try {
    const names = readdirSync(runsDir).filter((name) => /^\d+$/.test(name));
    return names.map(Number).sort((a, b) => a - b);
  } catch {
    return [];
  }
}
