// Carries out the plan for one task.

import { decideAfterStep } from "./chain.ts";
import { decideAfterBackupCheck, decideAfterBackupRequest, decideAfterStart } from "./decide-outcome.ts";
import type { ScheduleDeps } from "./deps.ts";
import { askBackup, readBackup, sendCommand, startFor, stopServer } from "./effects.ts";
import { detailOf, warningCommand } from "./messages.ts";
import { readServer } from "./observe.ts";
import type { Observed } from "./observed.ts";
import { type Ending, endingColumns, finish, noEnding, type Plan } from "./plan.ts";
import type { ScheduleRow } from "./row.ts";

/**
 * What follows: another plan, a decision on the row as it is now, a decision on what is observed now, or nothing until
 * the next tick.
 */
type Next =
  | { kind: "planned"; plan: Plan }
  | { kind: "moved"; row: ScheduleRow }
  | { kind: "observe" }
  | undefined;

const planned = (plan: Plan): Next => ({ kind: "planned", plan });
const moved = (row: ScheduleRow | undefined): Next => row && { kind: "moved", row };

export async function act(deps: ScheduleDeps, observed: Observed, plan: Plan): Promise<Next> {
  const { row, server } = observed;
  switch (plan.kind) {
    case "rest":
      return undefined;
    case "disable":
      return void (await disable(deps, observed, plan));
    case "warn":
      return void (await warnPlayers(deps, observed, plan.minutes));
    case "miss":
      return void (await miss(deps, observed, plan));
    case "claim": {
      // Nothing is claimed that cannot be started: while the cluster is away this throws, and the task stays due.
      await readServer(deps, row.server_name);
      return moved(await deps.schedules.claim(row, new Date(observed.now), new Date(plan.next)));
    }
    case "begin-step":
      return moved(await deps.schedules.beginStep(row, new Date(observed.now)));
    case "finish":
      return planned(decideAfterStep(observed, endingOf(plan)));
    case "continue":
      return moved(await goOn(deps, row, plan));
    case "end":
      return void (await endRun(deps, row, plan));
    case "enter":
      return moved(await enterState(deps, observed, plan));
    case "command":
      return server && planned(await sendCommand(deps, row, server));
    case "stop": {
      const stopped = server && (await stopServer(deps, server, row));
      if (!stopped) return { kind: "observe" };
      return row.run_state === "claimed" ? planned(finish("ok")) : undefined;
    }
    case "start":
      return server && planned(decideAfterStart(observed, await startFor(deps, server, row)));
    case "ask-backup":
      return planned(decideAfterBackupRequest(observed, await askBackup(deps, row)));
    case "read-backup":
      return planned(decideAfterBackupCheck(observed, await readBackup(deps, row)));
  }
}

async function disable(
  deps: ScheduleDeps,
  { row, now }: Observed,
  { code, detail }: Extract<Plan, { kind: "disable" }>,
): Promise<void> {
  const change = { enabled: false, next_run_at: null };
  const ending: Ending = { result: "skipped", detail, code };
  await deps.schedules.changeAtRest(row, change, { ending, at: new Date(now) });
}

async function miss(
  deps: ScheduleDeps,
  { row, now }: Observed,
  { next, code, detail }: Extract<Plan, { kind: "miss" }>,
): Promise<void> {
  // The result belongs to the run that was due then.
  const change = { next_run_at: new Date(next), last_run_at: row.next_run_at };
  const ending: Ending = { result: "missed", detail, code };
  const isOurs = await deps.schedules.changeAtRest(row, change, { ending, at: new Date(now) });
  if (isOurs) deps.metrics.ran(row.action, "missed");
}

// Recorded before it is sent: one replica of all warns, and a warning that is lost is not repeated.
async function warnPlayers(deps: ScheduleDeps, { row, server }: Observed, minutes: number): Promise<void> {
  const command = warningCommand(row.action, minutes);
  if (!server || command === undefined) return;
  if (!(await deps.schedules.changeAtRest(row, { warned_for: row.next_run_at }))) return;
  await deps.rcon
    .run(server, command)
    .catch((error: Error) =>
      deps.log.info({ schedule: row.id, error: error.message }, "warning players of a scheduled run failed"),
    );
}

function enterState(
  deps: ScheduleDeps,
  { row, now }: Observed,
  { state, startsAgain, job, pendingEnding }: Extract<Plan, { kind: "enter" }>,
): Promise<ScheduleRow | undefined> {
  return deps.schedules.move(row, {
    run_state: state,
    run_resume: startsAgain,
    run_step_at: new Date(now),
    ...(job !== undefined && { run_job: job }),
    ...(pendingEnding && endingColumns({ ...pendingEnding, detail: detailOf(pendingEnding.detail) })),
  });
}

/** One plain line of what a step is said to have done. */
function endingOf({ result, detail, code, chain_code, cause }: Ending): Ending {
  return {
    ...{ result, detail: detailOf(detail) },
    ...(code && { code }),
    ...(chain_code && { chain_code }),
    ...(cause && { cause }),
  };
}

function goOn(
  deps: ScheduleDeps,
  row: ScheduleRow,
  { endings, at }: Extract<Plan, { kind: "continue" }>,
): Promise<ScheduleRow | undefined> {
  return deps.schedules.move(row, {
    ...{ run_state: "claimed", run_waits: true, run_resume: false, run_job: "", ...noEnding },
    run_step: row.run_step + 1,
    run_step_at: new Date(at),
    step_endings: JSON.stringify(endings),
  });
}

async function endRun(
  deps: ScheduleDeps,
  row: ScheduleRow,
  plan: Extract<Plan, { kind: "end" }>,
): Promise<void> {
  const finished = await deps.schedules.finish(row, plan, new Date(deps.now()));
  if (finished) deps.metrics.ran(plan.action, plan.ending.result);
}
