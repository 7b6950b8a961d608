import type { TaskFault } from "@svc/proto/world-task";

/** A fault for the caller of a task; any other error is our own failure. */
export class WorldFault extends Error {
  readonly fault: TaskFault;

  constructor(code: TaskFault["code"], message: string, about: Partial<TaskFault> = {}) {
    super(message);
    this.name = "WorldFault";
    this.fault = { ...about, code, message };
  }
}

/** True for a `WorldFault` with one of these codes, or with any when none is named. */
export function isWorldFault(error: unknown, ...codes: TaskFault["code"][]): error is WorldFault {
  if (!(error instanceof Error) || error.name !== "WorldFault" || !("fault" in error)) return false;
  return codes.length === 0 || codes.includes((error as WorldFault).fault.code);
}

/** The code of a failed system call, such as `ENOENT`. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
