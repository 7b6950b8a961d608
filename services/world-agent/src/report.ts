// The lines of a Job that storage reads: progress, at most one a second, and one result.

import { progressMark, resultMark, type TaskResult } from "@svc/proto/world-task";

type Write = (line: string) => void;

/** Tells how far a task is; the first report and the last of each second get through. */
export function createProgress(write: Write, everyMs: number) {
  let next = Number.NEGATIVE_INFINITY;
  return (done: number, total: number): void => {
    const now = performance.now();
    if (now < next) return;
    next = now + everyMs;
    const progress = { done: Math.round(done), total: Math.max(Math.round(total), Math.round(done)) };
    write(`${progressMark}${JSON.stringify(progress)}\n`);
  };
}

export function reportResult(write: Write, result: TaskResult): void {
  write(`${resultMark}${JSON.stringify(result)}\n`);
}
