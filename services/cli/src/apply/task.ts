// A scheduled task as the file writes it and as the operations have it. Pure.

import { schedules, serverFiles } from "@svc/proto";
import { stepsText } from "../schedule/input.ts";

/** What can be set of a task; equal values are the same task. */
export type Task = {
  label: string;
  action: string;
  command: string;
  every_minutes: number;
  minute_of_day: number;
  weekdays: number;
  timezone: string;
  warn_minutes: number;
  enabled: boolean;
  only_if: string;
  next_steps: schedules.ScheduleStep[];
  /** Empty for the clock. */
  trigger: string;
  trigger_minutes: number;
  pause_minutes: number;
};

const allDays = 127;

export function taskOf(file: serverFiles.FileSchedule): Task {
  const [hours = 0, minutes = 0] = (file.at ?? "0:0").split(":").map(Number);
  return {
    label: file.label,
    action: file.action,
    command: storedCommand(file.command),
    only_if: file.onlyIf ?? "",
    next_steps: file.nextSteps.map(({ action, command, wait, onlyIf }) => ({
      ...{ action, command: storedCommand(command), wait_seconds: wait },
      ...(onlyIf && { only_if: onlyIf }),
    })),
    ...triggerOf(file),
    every_minutes: file.every ?? 0,
    minute_of_day: file.every === undefined ? hours * 60 + minutes : 0,
    weekdays: file.days.reduce((bits, day) => bits | (1 << serverFiles.weekdays.indexOf(day)), 0),
    timezone: file.timezone,
    warn_minutes: file.warn,
    enabled: file.enabled,
  };
}

function triggerOf({ when, for: minutes, pause }: serverFiles.FileSchedule) {
  const { triggerDefaults } = schedules;
  return {
    trigger: when ?? "",
    trigger_minutes: when === "server_empty" ? (minutes ?? triggerDefaults.minutes) : 0,
    pause_minutes: when === undefined ? 0 : (pause ?? triggerDefaults.pause),
  };
}

/** As lifecycle stores it. */
function storedCommand(text = ""): string {
  return text.trim().replace(/^\//, "").trim();
}

/** A task as the operations take it: one by the clock has no pause. */
export function taskInputOf({ trigger_minutes, pause_minutes, ...task }: Task) {
  return task.trigger === "" ? task : { ...task, trigger_minutes, pause_minutes };
}

/** What can be set of a stored task. */
export function settableOf(stored: schedules.Schedule): Task {
  const { label, action, command, every_minutes, minute_of_day, weekdays, timezone, warn_minutes, enabled } =
    stored;
  const minute = every_minutes === 0 ? minute_of_day : 0;
  return {
    ...{ label, action, command, every_minutes, minute_of_day: minute },
    ...{ weekdays, timezone, warn_minutes, enabled },
    ...{ only_if: stored.only_if ?? "", next_steps: stored.next_steps ?? [] },
    ...{ trigger: stored.trigger ?? "", trigger_minutes: stored.trigger_minutes ?? 0 },
    pause_minutes: stored.pause_minutes ?? 0,
  };
}

/** A task for the file, without what is the default anyway. */
export function fileTaskOf(task: Task): Record<string, unknown> {
  const { label, action, command, weekdays, timezone, warn_minutes: warn } = task;
  return {
    ...(label !== "" && { label }),
    action,
    ...(command !== "" && { command }),
    ...(task.trigger === "" ? timeOf(task) : fileTriggerOf(task)),
    ...(weekdays !== allDays && { days: daysOf(weekdays) }),
    timezone,
    ...(warn !== 0 && { warn }),
    ...(!task.enabled && { enabled: false }),
    ...(task.only_if !== "" && { onlyIf: task.only_if }),
    ...(task.next_steps.length > 0 && {
      nextSteps: task.next_steps.map((step) => ({
        action: step.action,
        ...(step.command !== "" && { command: step.command }),
        ...(step.wait_seconds !== 0 && { wait: step.wait_seconds }),
        ...(step.only_if && { onlyIf: step.only_if }),
      })),
    }),
  };
}

function timeOf({ every_minutes: every, minute_of_day }: Task) {
  return every === 0 ? { at: clockOf(minute_of_day) } : { every };
}

function fileTriggerOf({ trigger, trigger_minutes: minutes, pause_minutes: pause }: Task) {
  const { triggerDefaults } = schedules;
  return {
    when: trigger,
    ...(trigger === "server_empty" && minutes !== triggerDefaults.minutes && { for: minutes }),
    ...(pause !== triggerDefaults.pause && { pause }),
  };
}

function clockOf(minuteOfDay: number): string {
  return [Math.floor(minuteOfDay / 60), minuteOfDay % 60]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

function daysOf(bits: number): string[] {
  return serverFiles.weekdays.filter((_, bit) => bits & (1 << bit));
}

/** The fields of a task as the plan shows them. */
export function shownTask(task: Task): Record<string, string> {
  return {
    label: task.label,
    action: stepsText(task),
    when: whenOf(task),
    ...(task.trigger !== "" && { pause: String(task.pause_minutes) }),
    days: task.weekdays === allDays ? "all" : daysOf(task.weekdays).join(","),
    timezone: task.timezone,
    warn: String(task.warn_minutes),
    enabled: String(task.enabled),
  };
}

function whenOf({ trigger, trigger_minutes: minutes, ...task }: Task): string {
  if (trigger !== "") return trigger === "server_empty" ? `${trigger} for ${minutes} min` : trigger;
  return task.every_minutes === 0 ? `at ${clockOf(task.minute_of_day)}` : `every ${task.every_minutes} min`;
}

/** How a task is called in messages. */
export function nameOf({ label, ...task }: Task): string {
  const { action, when } = shownTask({ ...task, label });
  return label === "" ? `${action} ${when}` : JSON.stringify(label);
}

/** Whether this machine knows the zone, as lifecycle will be asked. */
export function isZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}
