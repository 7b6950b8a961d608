// What the kernel says of processes: CPU, memory, children. Linux only, like the embedded stack.

import { readdirSync, readFileSync } from "node:fs";

// USER_HZ is 100 on every Linux that Node runs on; a tick is 10 ms, so a window should last a second or more.
const tickMicros = 10_000;

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process ended between the listing and the read.
    return undefined;
  }
}

type Stat = { parent: number; cpuMicros: number };

// CPU of children that ended counts for the one who waited for them, so that a sum over a tree never falls.
function statOf(pid: number): Stat | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The command name may hold spaces and brackets; the fields begin behind its last bracket.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), cpuMicros: ticks * tickMicros };
}

function allPids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** The given processes and everything below them, as they are now. */
export function withDescendants(roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const pid of allPids()) {
    const parent = statOf(pid)?.parent;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = new Set<number>();
  const visit = (pid: number) => {
    if (found.has(pid)) return;
    found.add(pid);
    for (const child of children.get(pid) ?? []) visit(child);
  };
  for (const root of roots) visit(root);
  return [...found];
}

function cpuMicros(roots: readonly number[]): number {
  return withDescendants(roots).reduce((sum, pid) => sum + (statOf(pid)?.cpuMicros ?? 0), 0);
}

/** Starts counting the CPU of these processes and their descendants; call the answer to get microseconds. */
export function watchCpu(roots: readonly number[]): () => number {
  const before = cpuMicros(roots);
  return () => cpuMicros(roots) - before;
}

function machineBusyMicros(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (read("/proc/stat") ?? "")
    .split("\n", 1)[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) * tickMicros;
}

/**
 * Watches what the rest of the machine does. The answer of the answer: cores used since the start by processes that
 * are not below `roots()`. Above 0.5 a comparison is void (docs/performance.md C).
 */
export function watchOutsiders(roots: () => readonly number[]): () => number {
  const outside = () => machineBusyMicros() - cpuMicros(roots());
  const before = outside();
  const startedAt = performance.now();
  return () => Math.max(0, (outside() - before) / ((performance.now() - startedAt) * 1_000));
}

function kilobytes(text: string | undefined, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text ?? "")?.[1] ?? 0);
}

/** Resident memory of one process in MB. */
export function residentMb(pid: number): number {
  return kilobytes(read(`/proc/${pid}/status`), "VmRSS") / 1024;
}

/** The most resident memory that a process had so far in MB. */
export function peakResidentMb(pid: number): number {
  return kilobytes(read(`/proc/${pid}/status`), "VmHWM") / 1024;
}

/** Proportional memory of one process in MB: pages shared by n processes count as 1/n. */
export function proportionalMb(pid: number): number {
  return kilobytes(read(`/proc/${pid}/smaps_rollup`), "Pss") / 1024;
}

/** Environment of a running process, to start another like it. */
export function environmentOf(pid: number): Record<string, string> {
  const pairs = (read(`/proc/${pid}/environ`) ?? "").split("\0").filter((pair) => pair.includes("="));
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
}
