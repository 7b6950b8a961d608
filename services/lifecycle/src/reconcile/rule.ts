import type { Observed } from "./observed.ts";
import type { Note, Plan, Requeue } from "./plan.ts";
import { failed } from "./status.ts";

/** Returns a plan when it applies. Rules are tried in order; the first plan wins. */
export type Rule = (observed: Observed, now: number) => Plan | undefined;

export const normal = (reason: string, message: string): Note => ({ type: "Normal", reason, message });
export const after = (afterMs: number): Requeue => ({ afterMs: Math.max(0, afterMs) });

type Parts = Pick<Plan, "status" | "requeue"> & Partial<Plan>;

/** A plan that changes only what `parts` names. */
export function plan(observed: Observed, parts: Parts): Plan {
  return { effects: [], notes: [], memory: observed.memory, ...parts };
}

export function invalidSpec(observed: Observed, now: number, message: string): Plan {
  const status = failed(observed, now, { reason: "InvalidSpec", message });
  return plan(observed, { status, requeue: "on-change" });
}
