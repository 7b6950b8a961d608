// The shell around the decisions: observe, decide, act (docs/reference/schedules.md#run). Every write is a compare-and-set on the state
// that was decided on, so any number of replicas may work on the same task.

import { act } from "./act.ts";
import { decideAfterStep } from "./chain.ts";
import { decide, decideClaimed } from "./decide.ts";
import type { ScheduleDeps } from "./deps.ts";
import { detailOf } from "./messages.ts";
import { observe, observeFromCopy, toObserved } from "./observe.ts";
import type { Observed } from "./observed.ts";
import type { Plan } from "./plan.ts";
import type { FoundTask } from "./store.ts";

// A step has three states; more plans than this in one pass would be a defect of the rules.
const maxPlansPerPass = 12;

/** One pass over one task. */
export async function reconcileTask(deps: ScheduleDeps, found: FoundTask): Promise<void> {
  if (found.row.run_state !== "") return advanceRun(deps, found, decide);
  const observed = observeFromCopy(deps, found);
  const next = await act(deps, observed, decide(observed));
  if (next?.kind === "moved") await startRun(deps, { ...found, row: next.row });
}

/** The first pass over a claimed step. Ends the step when it fails. */
export async function startRun(deps: ScheduleDeps, found: FoundTask): Promise<void> {
  try {
    await advanceRun(deps, found, decideClaimed);
  } catch (error) {
    const message = (error as Error).message || "It could not be started.";
    deps.log.warn({ schedule: found.row.id, error: message }, "starting a scheduled run failed");
    // A compare-and-set: a run that got beyond its claim is left to the next tick.
    const observed = toObserved(deps, found, undefined);
    await act(deps, observed, decideAfterStep(observed, { result: "failed", detail: detailOf(message) }));
  }
}

/** Decides and acts until the run has to wait or has ended. */
async function advanceRun(
  deps: ScheduleDeps,
  found: FoundTask,
  decideFirst: (observed: Observed) => Plan,
): Promise<void> {
  let { row } = found;
  let observed = await observe(deps, found);
  let plan = decideFirst(observed);
  let decideNext = decideFirst;
  for (let left = maxPlansPerPass; left > 0; left--) {
    const next = await act(deps, observed, plan);
    if (next === undefined) return;
    if (next.kind === "planned") {
      plan = next.plan;
      continue;
    }
    if (next.kind === "moved") {
      row = next.row;
      // This replica began the next step.
      if (row.run_state === "claimed" && !row.run_waits) return startRun(deps, { ...found, row });
      decideNext = decide;
    }
    observed = await observe(deps, { ...found, row });
    plan = decideNext(observed);
  }
  deps.log.error({ schedule: row.id, state: row.run_state }, "scheduled run does not end");
}
