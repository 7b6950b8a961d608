// A move of a world as steps that a person follows (docs/reference/moves.md#steps).

import type { Output } from "../api/operations.ts";
import type { StepState } from "../ui/steps.tsx";

export type Migration = Output<"migrations.readLatest">;
const stages = ["backing_up", "restoring", "switching"] as const;
type Stage = (typeof stages)[number];

/** Whether a move works on the world now. */
export function isMoving(migration: Pick<Migration, "state"> | undefined): boolean {
  return stages.some((stage) => stage === migration?.state);
}

/** Whether a move is under way or waits for somebody: the world is locked. */
export function isUnfinished(migration: Pick<Migration, "state" | "cancelled">): boolean {
  return isMoving(migration) || (migration.state === "failed" && !migration.cancelled);
}

/** What a failed or cancelled move was doing; later steps were not begun. */
export function stepsOf({
  state,
  stage,
}: Pick<Migration, "state" | "stage">): (readonly [Stage, StepState])[] {
  const at = (stages as readonly string[]).indexOf(stage);
  return stages.map((one, step) => [one, stateOf(state, step, at)]);
}

function stateOf(state: Migration["state"], step: number, at: number): StepState {
  if (state === "succeeded") return "done";
  if (step < at) return "done";
  if (step > at || at < 0) return "waiting";
  return state === "failed" ? "failed" : "running";
}

export type Node = Output<"nodes.listNodes">["nodes"][number];

/** Nodes that a world can move to. */
export function targetsOf(nodes: readonly Node[], current: string | undefined): string[] {
  return nodes
    .filter(({ name, role, ready, approved }) => role === "worker" && ready && approved && name !== current)
    .map(({ name }) => name);
}
