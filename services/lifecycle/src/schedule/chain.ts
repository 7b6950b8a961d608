// The steps of a task: which one a run is at, whether its condition is met, and what follows its end
// (docs/reference/schedules.md#chains). Pure.

import type { schedules } from "@svc/proto";
import { conditionOf } from "../cluster/condition.ts";
import type { Server } from "../cluster/resource.ts";
import type { Observed } from "./observed.ts";
import type { Ending, Plan } from "./plan.ts";
import type { ScheduleRow, ScheduleSettings } from "./row.ts";

export type Step = schedules.ScheduleStep;

/** All steps of a task, its own action first. */
export function stepsOf(
  task: Pick<ScheduleSettings, "action" | "command" | "only_if" | "next_steps">,
): readonly Step[] {
  const { action, command, only_if, next_steps } = task;
  return [{ action, command, wait_seconds: 0, ...(only_if !== "" && { only_if }) }, ...next_steps];
}

/** The step that a run is at. */
export function stepOf(row: ScheduleRow): Step {
  const steps = stepsOf(row);
  const step = steps[row.run_step] ?? steps[0];
  if (!step) throw new Error("a task has at least one step");
  return step;
}

export type Count = "none" | "some" | "unknown";

/** Whether somebody is on a server. */
export function playersOf(server: Server | undefined): Count {
  const { phase, players, conditions } = server?.status ?? {};
  if (phase === "Stopped") return "none";
  if (phase === "Running" && conditionOf(conditions, "PlayersCounted")?.status === "False") return "unknown";
  if ((players?.online ?? 0) > 0) return "some";
  // While it starts, stops or has failed, the last count says nothing about who is there.
  return phase === "Running" ? "none" : "unknown";
}

/** Whether the condition of the step that a run is at, or begins with, does not hold. */
export function isUnmet({ row, server, lastPlayedAt }: Observed): boolean {
  const before = row.step_endings.at(-1)?.result;
  const count = playersOf(server);
  switch (stepOf(row).only_if) {
    case undefined:
      return false;
    case "empty":
      return count !== "none";
    case "players_online":
      return count !== "some";
    case "played_since_success": {
      // Where it is not known, they may have: a backup too many costs less than one too few.
      const since = (row.last_ok_at ?? row.created_at).getTime();
      return count === "none" && lastPlayedAt !== undefined && lastPlayedAt.getTime() < since;
    }
    case "previous_succeeded":
      return before !== "ok";
    case "previous_failed":
      return before !== "failed";
  }
}

/** What follows the end of a step: the next step, or the end of the run. */
export function decideAfterStep({ row, now }: Pick<Observed, "row" | "now">, ending: Ending): Plan {
  const next = stepsOf(row)[row.run_step + 1];
  if (!next || ending.code === "server_gone") return decideEnd(row, ending);
  const endings = [...row.step_endings, ending];
  return { kind: "continue", endings, at: now + next.wait_seconds * 1_000 };
}

/** Ends the run with the step that it is at, whatever steps are left. */
export function decideEnd(row: ScheduleRow, ending: Ending): Extract<Plan, { kind: "end" }> {
  if (row.next_steps.length === 0) return { kind: "end", ending, endings: [], action: row.action };
  const endings = [...row.step_endings, ending];
  const at = stepThatCounts(row, endings);
  const counts = endings[at] ?? ending;
  return { kind: "end", ending: counts, endings, action: stepsOf(row)[at]?.action ?? row.action };
}

const cutsShort: ReadonlySet<string | undefined> = new Set([
  ...(["server_gone", "server_deleted", "owner_changed"] satisfies schedules.RunCode[]),
  ...(["run_cancelled", "step_late"] satisfies schedules.ChainCode[]),
]);

// The first failure; else what cut the run short; else the last step that did something; else the first that more than its
// condition kept from it, since the steps behind it were skipped because of that one.
function stepThatCounts(row: ScheduleRow, endings: readonly Ending[]): number {
  const failed = endings.findIndex(({ result }) => result === "failed");
  if (failed !== -1) return failed;
  const { code, chain_code } = endings.at(-1) ?? {};
  if (cutsShort.has(code ?? chain_code)) return row.run_step;
  const done = endings.findLastIndex(({ result }) => result === "ok");
  if (done !== -1) return done;
  const skipped = endings.findIndex((ending) => ending.chain_code !== "condition_not_met");
  return skipped === -1 ? row.run_step : skipped;
}
