import { schedules } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { withHints } from "../hint.ts";
import { CommandError, type Outcome, planned, table, UsageError } from "../output.ts";
import {
  conditionOf,
  minuteOf,
  type ScheduleInput,
  stepOf,
  stepsText,
  timingOf,
  triggerOf,
  weekdaysOf,
} from "./input.ts";
import { lastText, stepsOfLastRun } from "./last-run.ts";
import { runText } from "./run-text.ts";

type Data = { data: string };
export type ScheduleOptions = {
  action?: schedules.ScheduleAction;
  command?: string;
  every?: number;
  at?: string;
  days?: string;
  timezone?: string;
  warn?: number;
  label?: string;
  onlyIf?: string;
  /** Steps behind the first; `none` alone takes them away. */
  then?: string[];
  /** A trigger, or `none`. */
  when?: string;
  for?: number;
  pause?: number;
  disabled?: boolean;
  disable?: boolean;
  enable?: boolean;
};

export async function listSchedules(name: string, { data }: Data): Promise<Outcome> {
  const answer = await connectExternal(data).call(schedules.list, { name });
  const rows = answer.schedules.map((task) => [
    String(task.id),
    stepsText(task),
    task.trigger ? timingOf(task) : `${timingOf(task)} ${task.timezone}`,
    task.enabled ? nextOf(task) : "disabled",
    lastText(task),
    task.label,
  ]);
  const head = ["ID", "ACTION", "WHEN", "NEXT", "LAST", "LABEL"];
  const runs = answer.schedules.map(stepsOfLastRun).filter(Boolean);
  const text = [table([head, ...rows]), ...runs].join("\n\n");
  return { json: answer, text: rows.length === 0 ? `${name} has no tasks.` : text };
}

export async function createSchedule(name: string, options: Data & ScheduleOptions): Promise<Outcome> {
  const { action, every, at, when = "none" } = options;
  if (action === undefined) throw new UsageError("missing --action command|restart|stop|start|backup");
  const isTimed = every !== undefined || at !== undefined;
  if (!isTimed && when === "none")
    throw new UsageError("missing a time or a trigger: --at 04:00, --every 60 or --when server_crashed");
  const input: ScheduleInput = {
    action,
    weekdays: weekdaysOf(options.days),
    timezone: options.timezone ?? ownTimezone(),
    enabled: !options.disabled,
    ...changed(options),
  };
  const task = await connectExternal(options.data).call(schedules.create, { name, ...input });
  return {
    json: task,
    text: savedText(task),
  };
}

export async function updateSchedule(
  name: string,
  id: string,
  options: Data & ScheduleOptions,
): Promise<Outcome> {
  const external = connectExternal(options.data);
  const { action, label, command, every_minutes, minute_of_day, ...rest } = await find(name, id, options);
  const { weekdays, timezone, warn_minutes, enabled } = rest;
  const known = {
    action,
    label,
    command,
    every_minutes,
    minute_of_day,
    weekdays,
    timezone,
    warn_minutes,
    enabled,
  };
  const task = await external.call(schedules.update, {
    ...{ name, id, ...known },
    ...(options.action !== undefined && { action: options.action }),
    ...(options.days !== undefined && { weekdays: weekdaysOf(options.days) }),
    ...(options.timezone !== undefined && { timezone: options.timezone }),
    ...(options.disable !== options.enable && { enabled: options.enable === true }),
    ...changed(options),
  });
  return {
    json: task,
    text: savedText(task),
  };
}

export async function deleteSchedule(
  name: string,
  id: string,
  { data, yes }: Data & { yes?: boolean },
): Promise<Outcome> {
  const task = await find(name, id, { data });
  const plan = `delete task ${id} of ${name}: ${stepsText(task)} ${timingOf(task)}`;
  if (!yes) return planned(plan, `Plan: ${plan}`);
  await connectExternal(data).call(schedules.remove, { name, id });
  return { json: { deleted: task.id }, text: `Deleted task ${id}.` };
}

export async function runSchedule(name: string, id: string, { data }: Data): Promise<Outcome> {
  const task = await connectExternal(data).call(schedules.runNow, { name, id });
  return {
    json: task,
    text: withHints(data, `Task ${id}: ${runText(task, name)}`),
    exitCode: task.last_result === "failed" ? 1 : 0,
  };
}

function savedText(task: schedules.Schedule): string {
  const what = `Task ${task.id}: ${stepsText(task)} ${timingOf(task)}`;
  return task.trigger ? `${what}.` : `${what}, next at ${task.next_run_at ?? "never"}.`;
}

/** When it runs next, or what it waits for to be due. */
function nextOf({ next_run_at, trigger_events = [] }: schedules.Schedule): string {
  const due = trigger_events.find(({ outcome }) => outcome === "waiting")?.due_at;
  return (next_run_at ?? due)?.slice(0, 16) ?? "-";
}

function stepsOf(then: readonly string[]): NonNullable<ScheduleInput["next_steps"]> {
  return then.length === 1 && then[0] === "none" ? [] : then.map(stepOf);
}

function changed(options: ScheduleOptions): Partial<ScheduleInput> {
  const { command, label, every, at, warn, onlyIf, then, when, pause } = options;
  return {
    ...(command !== undefined && { command }),
    ...(label !== undefined && { label }),
    ...(at !== undefined && { every_minutes: 0, minute_of_day: minuteOf(at) }),
    ...(every !== undefined && { every_minutes: every }),
    ...(warn !== undefined && { warn_minutes: warn }),
    ...(onlyIf !== undefined && { only_if: conditionOf(onlyIf) }),
    ...(then !== undefined && { next_steps: stepsOf(then) }),
    ...(when !== undefined && { trigger: triggerOf(when) }),
    ...(options.for !== undefined && { trigger_minutes: options.for }),
    ...(pause !== undefined && { pause_minutes: pause }),
  };
}

async function find(name: string, id: string, { data }: Data): Promise<schedules.Schedule> {
  const { schedules: tasks } = await connectExternal(data).call(schedules.list, { name });
  const task = tasks.find((one) => String(one.id) === id);
  if (!task)
    throw new CommandError(`task ${id} of ${name} not found; list tasks with \`svc schedule list ${name}\``);
  return task;
}

function ownTimezone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}
