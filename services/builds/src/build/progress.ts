// Percent and expected end, learned from how long the steps of earlier builds took (docs/reference/builds.md#progress). Pure.

import type { builds } from "@svc/proto";
import { currentStep } from "./steps.ts";

type Steps = readonly builds.StepProgress[];

const durationOf = ({ startedAt, finishedAt }: builds.StepProgress): number | undefined =>
  startedAt && finishedAt ? Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)) : undefined;

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Usual duration of a step in earlier builds that succeeded. */
function usual(name: builds.BuildStep, earlier: readonly Steps[]): number | undefined {
  const found = earlier.flatMap((steps) => steps.filter((step) => step.name === name));
  return median(found.map(durationOf).filter((ms) => ms !== undefined));
}

const isDone = ({ state }: builds.StepProgress) => state === "succeeded" || state === "skipped";

export function progressOf(build: {
  status: builds.BuildStatus;
  steps: Steps;
  /** Steps of builds that succeeded; of the same image when there are any. */
  earlier: readonly Steps[];
  now: number;
}): builds.BuildProgress {
  const { status, steps, earlier, now } = build;
  const step = status === "building" ? currentStep(steps) : undefined;
  const about = { ...(step && { step }), steps: [...steps] };
  if (status === "succeeded") return { ...about, percent: 100 };
  if (status === "pending" || steps.length === 0) return { ...about, percent: 0 };
  // Without earlier builds every step counts the same.
  const hasHistory = earlier.length > 0;
  let [done, total] = [0, 0];
  for (const one of steps) {
    if (one.state === "skipped") continue;
    const expected = hasHistory ? (usual(one.name, earlier) ?? 0) : 1;
    total += expected;
    if (isDone(one)) done += expected;
    else if (one.state === "running" && one.startedAt && hasHistory)
      done += Math.min(expected, Math.max(0, now - Date.parse(one.startedAt)));
  }
  // Only a finished build is at 100.
  const percent = total === 0 ? 0 : Math.min(99, Math.floor((done / total) * 100));
  if (!hasHistory || status !== "building") return { ...about, percent };
  return { ...about, percent, eta: new Date(now + total - done).toISOString() };
}
