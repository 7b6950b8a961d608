// The log of a build: lines of all steps, the steps between them, and the end (docs/reference/builds.md#log). Pure.

import type { EventBlock } from "../../api/event-blocks.ts";
import type { Output } from "../../api/operations.ts";

export type StepProgress = NonNullable<Output<"builds.readBuild">["progress"]>["steps"][number];
export type StepName = StepProgress["name"];

export const stepNames = [
  "egress-gate",
  "context-fetch",
  "build",
  "pull",
  "scan",
  "sbom",
  "scan-gate",
  "push",
] as const satisfies readonly StepName[];

export type BuildLogEvent =
  | { kind: "line"; id: number; text: string }
  | { kind: "step"; step: StepProgress }
  | { kind: "dropped"; count: number }
  | { kind: "end" }
  | { kind: "revoked" };

/** What a block of the stream says; undefined for what says nothing here. */
export function eventOf({ name, id, data, comment }: EventBlock): BuildLogEvent | undefined {
  if (name === "end" || name === "revoked") return { kind: name };
  if (name === "step") {
    const step = stepOf(data ?? "");
    return step && { kind: "step", step };
  }
  const dropped = /^(\d+) lines were dropped/.exec(comment);
  if (dropped) return { kind: "dropped", count: Number(dropped[1]) };
  if (name !== "" || data === undefined || id === "") return undefined;
  const number = Number(id);
  return Number.isFinite(number) ? { kind: "line", id: number, text: data } : undefined;
}

function stepOf(data: string): StepProgress | undefined {
  try {
    const step: unknown = JSON.parse(data);
    if (typeof step !== "object" || step === null || !("name" in step)) return undefined;
    return stepNames.some((name) => name === step.name) ? (step as StepProgress) : undefined;
  } catch {
    return undefined;
  }
}

/** Which step the lines after an event belong to: the last one that has begun. A log that is resumed repeats earlier ones. */
export function currentStep(
  before: StepName | undefined,
  { name, state }: Pick<StepProgress, "name" | "state">,
): StepName | undefined {
  if (state === "skipped" || state === "pending") return before;
  const isLater = before === undefined || stepNames.indexOf(name) > stepNames.indexOf(before);
  return isLater ? name : before;
}

/** Milliseconds that a step has taken so far; undefined before it began. */
export function durationMs(
  { startedAt, finishedAt }: { startedAt?: string | undefined; finishedAt?: string | undefined },
  now: number,
): number | undefined {
  if (startedAt === undefined) return undefined;
  const end = finishedAt === undefined ? now : Date.parse(finishedAt);
  return Math.max(0, end - Date.parse(startedAt));
}
