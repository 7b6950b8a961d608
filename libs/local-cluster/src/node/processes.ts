import { readdirSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** The variable that marks every process of a container; its value is the directory of the run. */
export const RUN_VARIABLE = "SVC_RUN";

export type ContainerProcess = { pid: number; runDir: string; isShim: boolean };

/** False for a process that is gone or a zombie; one whose first thread is a zombie lives while another thread does. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const state = stat.slice(stat.lastIndexOf(")") + 2)[0] ?? "X";
    return !["Z", "X"].includes(state) || readdirSync(`/proc/${pid}/task`).length > 1;
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

const killCheckMs = 10;
/** What the kernel does not end within this time waits for a device; nothing here can hurry it. */
const killWaitMs = 10_000;

/**
 * Kills the process group of a container, which has the pid of its shim, and resolves when none of it lives: until then a new run
 * would write the same files.
 */
export async function killGroup(shimPid: number): Promise<void> {
  const deadline = performance.now() + killWaitMs;
  while (signal(-shimPid, "SIGKILL") && isGroupAlive(shimPid) && performance.now() < deadline)
    await sleep(killCheckMs);
}

/** False for a group of zombies, which nobody may ever wait for. */
function isGroupAlive(groupPid: number): boolean {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.some((pid) => groupOf(pid) === groupPid && isAlive(Number(pid)));
}

function groupOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
  } catch {
    return undefined;
  }
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
