import type { MinecraftServerStatus } from "@svc/proto";
import type { Memory, Observed } from "./observe.ts";
import type { Effect, Note, Plan, Requeue } from "./plan.ts";
import { failed } from "./status.ts";

/** Answers when it applies. Rules are tried in order; the first answer is the plan of the pass. */
export type Rule = (observed: Observed, now: number) => Plan | undefined;

export const normal = (reason: string, message: string): Note => ({ type: "Normal", reason, message });
export const after = (afterMs: number): Requeue => ({ afterMs: Math.max(0, afterMs) });

type Parts = { effects?: readonly Effect[]; notes?: readonly Note[]; memory?: Memory };

export function plan(
  observed: Observed,
  status: MinecraftServerStatus,
  requeue: Requeue,
  parts: Parts = {},
): Plan {
  const { effects = [], notes = [], memory = observed.memory } = parts;
  return { status, requeue, effects, notes, memory };
}

export const invalidSpec = (observed: Observed, now: number, message: string): Plan =>
  plan(observed, failed(observed, now, { reason: "InvalidSpec", message }), "on-change");
