// The shell around the decisions: reads, decides, acts, writes the next state (behaviour.md i.3). Every write is a
// compare-and-set on the state that was decided on, so that any number of replicas may work on the same task.

import { begin, decide } from "./decide.ts";
import { decideAfterBackupRequest, decideAfterBackupCheck, decideAfterStart } from "./decide-outcome.ts";
import type { ScheduleDeps } from "./deps.ts";
import { askBackup, readBackup, readServer, startFor, stopServer } from "./effects.ts";
import { detailOf, warningCommand } from "./messages.ts";
import { finish, type Observed, type Plan } from "./plan.ts";
import type { ScheduleRow } from "./row.ts";
import type { Found } from "./store.ts";

// A run goes through three states; more steps in one go than this would be a mistake of the rules.
const stepsAtOnce = 12;

/** One look at one task, and what follows from it. */
export async function handleTask(deps: ScheduleDeps, found: Found): Promise<void> {
  const { row } = found;
  if (row.run_state !== "") return void (await runOn(deps, found, decide));
  const look = observedOf(deps, found, { server: deps.servers.get(row.server_name) });
  const step = decide(look);
  switch (step.kind) {
    case "disable": {
      const change = { enabled: false, next_run_at: null };
      const ending = { result: "skipped", detail: step.detail } as const;
      await deps.schedules.changeAtRest(row, change, { ending, at: new Date(look.now) });
      return;
    }
    case "warn":
      return warn(deps, look, step.minutes);
    case "miss": {
      // The result belongs to the run that was due then.
      const change = { next_run_at: new Date(step.next), last_run_at: row.next_run_at };
      const ending = { result: "missed", detail: step.detail } as const;
      const isMine = await deps.schedules.changeAtRest(row, change, { ending, at: new Date(look.now) });
      if (isMine) deps.metrics.ran(row.action, "missed");
      return;
    }
    case "claim": {
      // Nothing is claimed that cannot be begun: while the cluster is away this throws, and the task stays due.
      await readServer(deps, row.server_name);
      const claimed = await deps.schedules.claim(row, new Date(look.now), new Date(step.next));
      if (claimed) await startRun(deps, { ...found, row: claimed });
      return;
    }
  }
}

/** The first step of a run that was claimed, and those that need not wait. Ends the run when it cannot be made. */
export async function startRun(deps: ScheduleDeps, found: Found): Promise<void> {
  try {
    await runOn(deps, found, begin);
  } catch (error) {
    const message = (error as Error).message || "It could not be begun.";
    deps.log.warn({ schedule: found.row.id, error: message }, "a scheduled run could not be begun");
    // A run that got beyond its claim is carried on by the next tick; this then changes nothing.
    const look = observedOf(deps, found, { server: undefined });
    await perform(deps, look, finish("failed", message));
  }
}

async function runOn(deps: ScheduleDeps, found: Found, first: (look: Observed) => Plan): Promise<void> {
  let { row } = found;
  let think = first;
  let step: Plan | undefined;
  let look = await observe(deps, found);
  for (let left = stepsAtOnce; left > 0; left--) {
    const done = await perform(deps, look, step ?? think(look));
    if (done === undefined) return;
    step = "step" in done ? done.step : undefined;
    if ("row" in done) {
      row = done.row;
      think = decide;
    }
    if (step === undefined) look = await observe(deps, { ...found, row });
  }
  deps.log.error({ schedule: row.id, state: row.run_state }, "a scheduled run goes round in circles");
}

async function observe(deps: ScheduleDeps, found: Found): Promise<Observed> {
  return observedOf(deps, found, { server: await readServer(deps, found.row.server_name) });
}

function observedOf(deps: ScheduleDeps, found: Found, { server }: Pick<Observed, "server">): Observed {
  return { ...found, server, now: deps.now(), settings: deps.settings };
}

/** What to do next: another step, a look at the row as it is now, a look at the world as it is now, or nothing. */
type Done = { step: Plan } | { row: ScheduleRow } | { again: true } | undefined;

async function perform(deps: ScheduleDeps, look: Observed, step: Plan): Promise<Done> {
  const { row, server } = look;
  switch (step.kind) {
    case "finish":
      return endRun(deps, look, step);
    case "enter": {
      const moved = await deps.schedules.move(row, {
        run_state: step.state,
        run_resume: step.isResumed,
        run_step_at: new Date(look.now),
        ...(step.job !== undefined && { run_job: step.job }),
        ...(step.carried && {
          last_result: step.carried.result,
          last_detail: detailOf(step.carried.detail),
        }),
      });
      return moved && { row: moved };
    }
    case "command":
      return server && { step: await sendCommand(deps, row, server) };
    case "stop": {
      const stopped = server && (await stopServer(deps, server, row));
      if (!stopped) return { again: true };
      return row.run_state === "claimed" ? { step: finish("ok") } : undefined;
    }
    case "start":
      return server && { step: decideAfterStart(look, await startFor(deps, server)) };
    case "ask-backup":
      return { step: decideAfterBackupRequest(look, await askBackup(deps, row)) };
    case "read-backup":
      return { step: decideAfterBackupCheck(look, await readBackup(deps, row)) };
    default:
      return undefined;
  }
}

async function endRun(deps: ScheduleDeps, look: Observed, step: Extract<Plan, { kind: "finish" }>) {
  const { row } = look;
  const ending = { result: step.result, detail: detailOf(step.detail) };
  const finished = await deps.schedules.finish(row, ending, new Date(deps.now()));
  if (!finished) return undefined;
  deps.metrics.ran(row.action, ending.result);
  const payload = { id: row.id, label: row.label, schedule_action: row.action, ...ending };
  const about = { actor: "scheduler", source: "scheduler", server_name: row.server_name, payload };
  deps.mesh.audit({ ...about, action: "schedule.run" });
  return undefined;
}

async function sendCommand(
  deps: ScheduleDeps,
  row: ScheduleRow,
  server: NonNullable<Observed["server"]>,
): Promise<Plan> {
  try {
    return finish("ok", await deps.rcon.run(server, row.command));
  } catch (error) {
    return finish("failed", `The console was not reached: ${(error as Error).message}`);
  }
}

// Noted before it is said: of all replicas one warns, and a warning that was not heard is not said again.
async function warn(deps: ScheduleDeps, { row, server }: Observed, minutes: number): Promise<void> {
  const command = warningCommand(row.action, minutes);
  if (!server || command === undefined) return;
  if (!(await deps.schedules.changeAtRest(row, { warned_for: row.next_run_at }))) return;
  await deps.rcon
    .run(server, command)
    .catch((error: Error) =>
      deps.log.info({ schedule: row.id, error: error.message }, "players could not be warned"),
    );
}
