// Usage of the processes of each container, measured on request: an idle cluster measures nothing.

import { readFile } from "node:fs/promises";
import { relative, sep } from "node:path";
import type { PodUsage, PodUsages } from "../cluster-api.ts";
import { findContainerProcesses } from "./processes.ts";

/** Linux counts processor time in hundredths of a second, on every architecture. */
const tickNanos = 1e7;
/** Requests within this time get the same result: a shorter window is meaningless. */
const shortestWindowMs = 5_000;

/** Processor time and memory of one run of a container so far. */
export type Reading = { uid: string; container: string; cpuNanos: number; memoryBytes: number };
/** By directory of the run. */
type Readings = { at: number; runs: ReadonlyMap<string, Reading> };

/**
 * Usage between two readings. A new run has none yet, and a pod with such a container is left out:
 * the usage of some of its containers is not that of the pod.
 */
export function usagesBetween(before: Readings, after: Readings): Map<string, PodUsage> {
  const windowMs = after.at - before.at;
  const usages = new Map<string, PodUsage>();
  const partial = new Set<string>();
  for (const [run, { uid, container, cpuNanos, memoryBytes }] of after.runs) {
    const earlier = before.runs.get(run);
    if (!earlier || windowMs <= 0) {
      partial.add(uid);
      continue;
    }
    const cpuNanocores = Math.max(0, (cpuNanos - earlier.cpuNanos) / (windowMs / 1_000));
    const usage = usages.get(uid) ?? { at: new Date(after.at), windowMs, containers: [] };
    usage.containers.push({ container, cpuNanocores, memoryBytes });
    usages.set(uid, usage);
  }
  for (const uid of partial) usages.delete(uid);
  return usages;
}

/** Fields of `/proc/PID/stat` after the name: those of the process itself, and of its children that have ended. */
export function cpuNanosOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).map(Number);
  return ticks.reduce((sum, value) => sum + value, 0) * tickNanos;
}

/** Resident memory of `/proc/PID/status`, in bytes. */
export function residentBytesOf(status: string): number {
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024;
}

async function read(podsDir: string): Promise<Readings> {
  const processes = await findContainerProcesses(podsDir);
  const runs = new Map<string, Reading>();
  const add = async ({ pid, runDir }: { pid: number; runDir: string }) => {
    const [uid = "", , container = ""] = relative(podsDir, runDir).split(sep);
    try {
      const [stat, status] = await Promise.all([
        readFile(`/proc/${pid}/stat`, "latin1"),
        readFile(`/proc/${pid}/status`, "latin1"),
      ]);
      const known = runs.get(runDir) ?? { uid, container, cpuNanos: 0, memoryBytes: 0 };
      known.cpuNanos += cpuNanosOf(stat);
      known.memoryBytes += residentBytesOf(status);
      runs.set(runDir, known);
    } catch {
      // It has ended since it was found.
    }
  };
  await Promise.all(processes.map(add));
  return { at: Date.now(), runs };
}

/** Measures from one request to the next; the first one only starts the measurement. */
export function createPodUsages(podsDir: string): PodUsages {
  let last: Readings | undefined;
  let usages = new Map<string, PodUsage>();
  let measuring: Promise<void> | undefined;
  const measure = async () => {
    const before = last;
    const after = await read(podsDir);
    if (before) usages = usagesBetween(before, after);
    last = after;
  };
  return {
    measure: async () => {
      if (last && Date.now() - last.at < shortestWindowMs) return usages;
      measuring ??= measure().finally(() => {
        measuring = undefined;
      });
      await measuring;
      return usages;
    },
  };
}
