// Helpers of fault tests for the processes of a stack.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import type { Stack } from "../flow/stack.ts";

/** Pid of a process of the stack, as it is now; undefined while it is started. */
export function findPid(stack: Stack, name: string): number | undefined {
  return stack.file().processes.find((process) => process.name === name)?.pid;
}

/** The same for a process that is there. */
export function pidOf(stack: Stack, name: string): number {
  const pid = findPid(stack, name);
  assert.ok(pid !== undefined, `stack.json names no process ${name}`);
  return pid;
}

/** Pid of the process that started this one. */
export function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may hold anything, so the fields are counted from its end.
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** The process and everything it started. */
function treeOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      parents.set(Number(name), parentOf(Number(name)));
    } catch {
      // It ended meanwhile.
    }
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return pid === root || (parent !== undefined && parent > 1 && isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

/** Stops a process and its children without ending them: it is there and answers nothing. */
export function freeze(stack: Stack, name: string): () => void {
  const pids = treeOf(pidOf(stack, name));
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  return () => {
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGCONT");
      } catch {
        // It was killed meanwhile.
      }
    }
  };
}
