// A task as it is typed, and as the contract has it. Pure.

import { type InputOf, schedules } from "@svc/proto";
import { UsageError } from "../output.ts";

export type ScheduleInput = Omit<InputOf<typeof schedules.create>, "name">;

const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const allDays = 127;

/** `mon,fri` as bits, Sunday first. */
export function weekdaysOf(text: string | undefined): number {
  if (text === undefined) return allDays;
  let bits = 0;
  for (const word of text.toLowerCase().split(",")) {
    const day = days.indexOf(word.trim().slice(0, 3));
    if (day === -1) throw new UsageError(`--days ${text}: write days such as ${days.join(",")}`);
    bits |= 1 << day;
  }
  return bits;
}

type StepInput = NonNullable<ScheduleInput["next_steps"]>[number];

const stepForm = "[wait=SECONDS] [only-if=CONDITION] ACTION [COMMAND]";

/** `wait=60 only-if=previous_succeeded command say done` as a step behind the first. */
export function stepOf(text: string): StepInput {
  const words = text.trim().split(/\s+/);
  const step: Omit<StepInput, "action"> = {};
  for (;;) {
    const [, name, value = ""] = /^(wait|only-if)=(.*)$/.exec(words[0] ?? "") ?? [];
    if (name === undefined) break;
    words.shift();
    if (name === "only-if") step.only_if = conditionOf(value);
    else if (/^\d{1,4}$/.test(value)) step.wait_seconds = Number(value);
    else throw new UsageError(`--then ${text}: write the seconds to wait, such as wait=60`);
  }
  const [action = "", ...command] = words;
  if (!schedules.scheduleActions.some((one) => one === action)) {
    throw new UsageError(`--then ${text}: write ${stepForm}, ACTION ${schedules.scheduleActions.join("|")}`);
  }
  if ((action === "command") !== command.length > 0) {
    throw new UsageError(`--then ${text}: action command has a command, and no other has one`);
  }
  return { ...step, action, ...(action === "command" && { command: command.join(" ") }) };
}

/** A condition of a step; `none` takes it away. */
export function conditionOf(text: string): string {
  if (text === "none") return "";
  if (schedules.stepConditions.some((one) => one === text)) return text;
  throw new UsageError(`only-if ${text}: write ${schedules.stepConditions.join(", ")} or none`);
}

/** What a task does, its steps in order. */
export function stepsText(task: Steps): string {
  return stepTexts(task).join(" > ");
}

/** The same, a text for each step. */
export function stepTexts({ action, command, only_if, next_steps = [] }: Steps): string[] {
  const first = { action, command, wait_seconds: 0, ...(only_if && { only_if }) };
  return [first, ...next_steps].map(stepText);
}

type Steps = {
  action: string;
  command: string;
  only_if?: string | undefined;
  next_steps?: readonly Step[] | undefined;
};

type Step = { action: string; command: string; wait_seconds: number; only_if?: string | undefined };

function stepText({ action, command, wait_seconds: wait, only_if }: Step): string {
  const parts = [
    ...(wait > 0 ? [`wait=${wait}`] : []),
    ...(only_if ? [`only-if=${only_if}`] : []),
    ...(action === "command" ? [action, command] : [action]),
  ];
  return parts.join(" ");
}

/** Minutes since midnight. */
export function minuteOf(text: string): number {
  const [, hours = "", minutes = ""] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  const value = Number(hours) * 60 + Number(minutes);
  if (hours !== "" && Number(hours) < 24 && Number(minutes) < 60) return value;
  throw new UsageError(`--at ${text}: write a time such as 04:30`);
}

/** What a task runs on instead of the clock; `none` is the clock. */
export function triggerOf(text: string): string {
  if (text === "none") return "";
  if (schedules.scheduleTriggers.some((one) => one === text)) return text;
  throw new UsageError(`--when ${text}: write ${schedules.scheduleTriggers.join(", ")} or none`);
}

type Triggered = { trigger?: string | undefined; trigger_minutes?: number | undefined };
type Timing = { every_minutes: number; minute_of_day: number; weekdays: number } & Triggered;

const triggerTexts: Record<string, string> = {
  first_player_joined: "when the first player joins",
  server_empty: "when it is empty",
  server_started: "when it has started",
  server_crashed: "when it has crashed",
  backup_failed: "when a backup has failed",
};

/** A trigger of a newer service has its name. */
function triggerText(trigger: string, minutes: number | undefined): string {
  const text = triggerTexts[trigger] ?? trigger;
  return minutes ? `${text} for ${minutes} min` : text;
}

/** When a task runs, in words. */
export function timingOf(task: Timing): string {
  if (task.trigger) return triggerText(task.trigger, task.trigger_minutes);
  const clock = [Math.floor(task.minute_of_day / 60), task.minute_of_day % 60];
  const at = clock.map((part) => String(part).padStart(2, "0")).join(":");
  const when = task.every_minutes === 0 ? `at ${at}` : `every ${task.every_minutes} min`;
  if (task.weekdays === allDays) return when;
  return `${when}, ${days.filter((_, bit) => task.weekdays & (1 << bit)).join(" ")}`;
}
