import { readFileSync } from "node:fs";

type ProcessRef = {
  pid: number /** Start time in clock ticks since boot: ids are used again. */;
  started: string;
};

/** Undefined when there is no such process, also where it belongs to another container. */
export function findProcess(pid: number): ProcessRef | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the program, in parentheses, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state = "Z"] = fields;
    return state === "Z" || state === "X" ? undefined : { pid, started: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}

export function isAlive({ pid, started }: ProcessRef): boolean {
  return findProcess(pid)?.started === started;
}
