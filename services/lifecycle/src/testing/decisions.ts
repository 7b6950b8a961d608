// What tests of decide look at in a plan.

import assert from "node:assert/strict";
import { decide } from "../reconcile/decide.ts";
import type { Observed } from "../reconcile/observed.ts";
import type { Plan } from "../reconcile/plan.ts";
import { aServer, now } from "./observed.ts";

export const seconds = (count: number) => count * 1_000;
export const at = new Date(now).toISOString();
export const refused = { kind: "failed", problem: "RCON: refused" } as const;
export const someone = { kind: "reached", count: { online: 2, max: 20 } } as const;
export const stopped = aServer({ desiredState: "Stopped" });
export const idleServer = aServer({ idle: { autoStopEnabled: true, emptySecondsBeforeStop: 600 } });

type Short = { phase: string | undefined; ready: string; requeue: number | "on-change" };

/** Phase, `status/reason` of Ready, and the wait. */
export function short(plan: Plan): Short {
  const { phase } = plan.status;
  const requeue = plan.requeue === "on-change" ? plan.requeue : plan.requeue.afterMs;
  return { phase, ready: conditionsOf(plan)["Ready"] ?? "", requeue };
}

export function conditionsOf({ status }: Plan): Record<string, string> {
  return Object.fromEntries(
    (status.conditions ?? []).map((one) => [one.type, `${one.status}/${one.reason}`]),
  );
}

export const effectsOf = ({ effects }: Plan) => effects.map(({ kind }) => kind);
export const notesOf = ({ notes }: Plan) => notes.map(({ type, reason }) => `${type} ${reason}`);

export function expect(observed: Observed, wanted: Short): Plan {
  const plan = decide(observed, now);
  assert.deepEqual(short(plan), wanted);
  return plan;
}
