// What the editor holds, and which of it the service would refuse (docs/reference/schedules.md#task).

import type { Input } from "../api/operations.ts";
import { clockOf, isZone } from "../words/local-time.ts";
import type { Schedule, Timetable } from "./timetable.ts";

export const actions = ["restart", "backup", "start", "stop", "command"] as const;
/** Minutes between two runs; 0 is once a day. */
export const intervals = [0, 15, 30, 60, 120, 180, 240, 360, 480, 720] as const;
/** Minutes before a run at which players are warned; 0 is never. */
export const warnings = [0, 1, 5, 10, 15, 30] as const;

export type Draft = Pick<Schedule, "action" | "label" | "command" | "weekdays" | "timezone" | "enabled"> & {
  every: number;
  /** `HH:MM`, or empty. */
  time: string;
  warn: number;
};

const shortestMinutes = 60;
const maxLabelCharacters = 64;
const maxCommandCharacters = 1_024;
const maxCommandBytes = 1_446;
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;

export function newDraft(timezone: string): Draft {
  return {
    ...{ action: "restart", label: "", command: "", every: 0, time: "04:00" },
    ...{ weekdays: 127, timezone, warn: 5, enabled: true },
  };
}

export function draftOf(schedule: Schedule): Draft {
  const { action, label, command, weekdays, timezone, enabled } = schedule;
  const { every_minutes: every, minute_of_day, warn_minutes: warn } = schedule;
  return {
    ...{ action, label, command, weekdays, timezone, enabled, every, warn },
    time: every === 0 ? clockOf(minute_of_day) : "",
  };
}

/** Whether players can be warned before: a start has none, and a command disturbs nobody. */
export function mayWarn(action: Draft["action"]): boolean {
  return action !== "command" && action !== "start";
}

/** The intervals that an action may have. */
export function intervalsOf(action: Draft["action"]): readonly number[] {
  return intervals.filter((every) => action === "command" || every === 0 || every >= shortestMinutes);
}

export function timetableOf({ every, time, weekdays, timezone }: Draft): Timetable {
  return { every_minutes: every, minute_of_day: minuteOf(time) ?? 0, weekdays, timezone };
}

/** The settings as the service takes them. */
export function inputOf(draft: Draft): Omit<Input<"schedules.create">, "name"> {
  const { action, label, command, enabled } = draft;
  return {
    ...timetableOf(draft),
    ...{ action, enabled },
    label: label.trim(),
    command: action === "command" ? command : "",
    warn_minutes: mayWarn(action) ? draft.warn : 0,
  };
}

/** Minutes since midnight; undefined for what is not a time. */
function minuteOf(time: string): number | undefined {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time);
  return match ? Number(match[1]) * 60 + Number(match[2]) : undefined;
}

export type Problem = "command" | "label" | "interval" | "time" | "days" | "zone";

/** What has to change before the service takes it, by field. */
export function problemsOf(draft: Draft): ReadonlySet<Problem> {
  const { action, label, every, time, weekdays, timezone } = draft;
  const problems = new Set<Problem>();
  if (action === "command" && !isCommand(draft.command)) problems.add("command");
  if ([...label.trim()].length > maxLabelCharacters || unprintable.test(label.trim())) problems.add("label");
  if (!intervalsOf(action).includes(every)) problems.add("interval");
  if (every === 0 && minuteOf(time) === undefined) problems.add("time");
  if (weekdays === 0) problems.add("days");
  if (!isZone(timezone)) problems.add("zone");
  return problems;
}

function isCommand(text: string): boolean {
  const command = text.trim().replace(/^\//, "").trim();
  if (command === "" || unprintable.test(command)) return false;
  return (
    [...command].length <= maxCommandCharacters && new TextEncoder().encode(command).length <= maxCommandBytes
  );
}
