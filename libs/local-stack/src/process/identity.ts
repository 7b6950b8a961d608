import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "../error.ts";

/** One process for certain: a pid alone is reused, a pid with its start time within one boot is not. */
export type ProcessRef = { pid: number; startTicks: string; bootId: string };

/** What to send, and how long to wait after it; the steps run until the process is gone. */
type EndStep = { signal: NodeJS.Signals; waitMs: number; group?: boolean };

const pollMs = 20;

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

/** The fields of /proc/PID/stat after the command name, which may itself hold spaces and brackets. */
function readStat(pid: number): { state: string; startTicks: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state, startTicks] = [fields[0], fields[19]];
    return state === undefined || startTicks === undefined ? undefined : { state, startTicks };
  } catch {
    return undefined;
  }
}

/** Identifies the living process with this pid; undefined when there is none or it is a zombie. */
export function findProcess(pid: number): ProcessRef | undefined {
  const stat = readStat(pid);
  if (!stat || stat.state === "Z" || stat.state === "X") return undefined;
  return { pid, startTicks: stat.startTicks, bootId: bootId() };
}

export function isAlive(ref: ProcessRef): boolean {
  const now = findProcess(ref.pid);
  return now !== undefined && now.startTicks === ref.startTicks && now.bootId === ref.bootId;
}

/** Waits until the process is gone; false when it still lives after `timeoutMs`. */
async function waitForExit(ref: ProcessRef, timeoutMs: number): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  while (isAlive(ref)) {
    if (Date.now() >= end) return false;
    await sleep(pollMs);
  }
  return true;
}

/** Sends a signal to a process (or its group); false when it was gone already. */
export function signalProcess(pid: number, signal: NodeJS.Signals, group = false): boolean {
  try {
    return process.kill(group ? -pid : pid, signal);
  } catch (error) {
    if (errorCode(error) === "ESRCH") return false;
    throw error;
  }
}

/** Ends a process step by step; false when it outlived all of them. */
export async function endProcess(ref: ProcessRef, steps: readonly EndStep[]): Promise<boolean> {
  for (const step of steps) {
    if (!isAlive(ref)) return true;
    signalProcess(ref.pid, step.signal, step.group);
    if (await waitForExit(ref, step.waitMs)) return true;
  }
  return !isAlive(ref);
}

/** A process reference read back from a file; undefined when the text is none. */
export function parseProcessRef(value: unknown): ProcessRef | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, startTicks, bootId: boot } = value as Record<string, unknown>;
  if (typeof pid !== "number" || typeof startTicks !== "string" || typeof boot !== "string") return undefined;
  return { pid, startTicks, bootId: boot };
}
