// Handles an event that a task is waiting for: observe, decide, act (docs/reference/schedules.md#events).

import { changedOwner, deleted } from "./decide.ts";
import type { ScheduleDeps } from "./deps.ts";
import { observeFromCopy, readServer } from "./observe.ts";
import type { Ending } from "./plan.ts";
import { startRun } from "./run.ts";
import { decideTrigger } from "./trigger.ts";
import type { FoundEvent } from "./trigger-store.ts";

/** One pass over something that is due. */
export async function reconcileTrigger(deps: ScheduleDeps, { found, waiting }: FoundEvent): Promise<void> {
  const observed = observeFromCopy(deps, found);
  const { row } = found;
  const plan = decideTrigger(waiting, observed);
  const now = new Date(observed.now);
  switch (plan.kind) {
    case "rest":
      return;
    case "drop":
      return void (await deps.triggers.drop(row, waiting, plan.outcome));
    case "miss": {
      if (await deps.triggers.miss(row, waiting, now)) deps.metrics.ran(row.action, "missed");
      return;
    }
    case "disable": {
      // First the task: whoever comes next finds it switched off, and the event without one.
      const about = found.owner === undefined ? deleted : changedOwner;
      const ending: Ending = { result: "skipped", ...about };
      const change = { enabled: false, next_run_at: null };
      const isOff = await deps.schedules.changeAtRest(row, change, { ending, at: now });
      if (isOff) await deps.triggers.drop(row, waiting, "cancelled");
      return;
    }
    case "run": {
      // Nothing is claimed that cannot be started: while the cluster is away this throws, and the event stays due.
      await readServer(deps, row.server_name);
      const claimed = await deps.triggers.claim(row, waiting, now);
      if (claimed) await startRun(deps, { ...found, row: claimed });
    }
  }
}
