import { readdirSync, readFileSync } from "node:fs";
import { endProcess, findProcess, type ProcessRef } from "./identity.ts";

/** Living processes, except this one, whose environment has an entry `NAME=value` that begins like this. */
function findMarked(mark: string): ProcessRef[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => environmentOf(pid).some((entry) => entry.startsWith(mark)))
    .map((pid) => findProcess(Number(pid)))
    .filter((ref) => ref !== undefined);
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    // It has ended meanwhile, or is another user's.
    return [];
  }
}

/** Ends those processes, with SIGKILL after `waitMs`; returns how many there were. */
export async function endMarked(mark: string, waitMs: number): Promise<number> {
  const found = findMarked(mark);
  await Promise.all(
    found.map((ref) =>
      endProcess(ref, [
        { signal: "SIGTERM", waitMs },
        { signal: "SIGKILL", waitMs: 2_000 },
      ]),
    ),
  );
  return found.length;
}
