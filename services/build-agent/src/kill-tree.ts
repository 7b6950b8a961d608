import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const stopTries = 200;
const stopPauseMs = 5;

/**
 * Kills a process with all below it. They are stopped first: one that forks while its parent is killed would be missed. They
 * stay in the process group of their container, whose end is theirs.
 */
export async function killTree(root: number): Promise<void> {
  const stopped = new Set<number>();
  for (let tries = 0; tries < stopTries; tries += 1) {
    const found = treeOf(root);
    const fresh = found.filter((pid) => !stopped.has(pid));
    for (const pid of fresh) send(pid, "SIGSTOP");
    for (const pid of fresh) stopped.add(pid);
    if (fresh.length === 0 && found.every(isStopped)) break;
    await delay(stopPauseMs);
  }
  for (const pid of stopped) send(pid, "SIGKILL");
}

/** How many processes are below this one, itself included. */
export function countTree(root: number): number {
  return treeOf(root).length;
}

function treeOf(pid: number): number[] {
  try {
    // A child is that of one thread.
    const lists = readdirSync(`/proc/${pid}/task`).map((thread) => childrenOf(pid, thread));
    return [pid, ...lists.flat().flatMap(treeOf)];
  } catch {
    // It has ended.
    return [];
  }
}

function childrenOf(pid: number, thread: string): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8");
    return text.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return "TtZX".includes(stat.slice(stat.lastIndexOf(")") + 2)[0] ?? "X");
  } catch {
    return true;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
