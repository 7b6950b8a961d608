// What the editor holds, and which of it the service would refuse (docs/reference/schedules.md#task).

import type { Input } from "../api/operations.ts";
import { clockOf, isZone } from "../words/local-time.ts";
import type { Schedule, Timetable } from "./timetable.ts";

export const actions = ["restart", "backup", "start", "stop", "command"] as const;
/** Minutes between two runs; 0 is once a day. */
export const intervals = [0, 15, 30, 60, 120, 180, 240, 360, 480, 720] as const;
/** Minutes before a run at which players are warned; 0 is never. */
export const warnings = [0, 1, 5, 10, 15, 30] as const;

export const conditions = [
  ...(["empty", "players_online", "played_since_success", "previous_succeeded", "previous_failed"] as const),
] as const;
/** The first step has none before it. */
export const firstConditions = conditions.filter((one) => !one.startsWith("previous_"));
export const maxSteps = 10;
/** Seconds before a step that are offered; others that are stored stay. */
export const waits = [0, 10, 30, 60, 120, 300, 600, 900, 1_800, 3_600] as const;

export const triggers = [
  ...(["first_player_joined", "server_empty", "server_started", "server_crashed", "backup_failed"] as const),
] as const;
/** Minutes that a trigger may have. */
export const mostMinutes = 1_440;

export type Condition = (typeof conditions)[number] | "none";
/** A step behind the first; `key` is its own while it is edited. */
export type DraftStep = Pick<Schedule, "action" | "command"> & {
  key: number;
  wait: number;
  condition: Condition;
};

export type Draft = Pick<Schedule, "action" | "label" | "command" | "weekdays" | "timezone" | "enabled"> & {
  condition: Condition;
  steps: readonly DraftStep[];
  /** What it waits for; none is the clock. */
  trigger: (typeof triggers)[number] | "none";
  /** Minutes as they are typed: how long it is empty, and between two runs. */
  emptyMinutes: string;
  pauseMinutes: string;
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
    ...{ weekdays: 127, timezone, warn: 5, enabled: true, condition: "none", steps: [] },
    ...{ trigger: "none", emptyMinutes: "5", pauseMinutes: "5" },
  };
}

export function draftOf(schedule: Schedule): Draft {
  const { action, label, command, weekdays, timezone, enabled } = schedule;
  const { every_minutes: every, minute_of_day, warn_minutes: warn } = schedule;
  return {
    ...{ action, label, command, weekdays, timezone, enabled, every, warn },
    time: every === 0 ? clockOf(minute_of_day) : "",
    trigger: schedule.trigger ?? "none",
    emptyMinutes: String(schedule.trigger_minutes ?? 5),
    pauseMinutes: String(schedule.pause_minutes ?? 5),
    condition: schedule.only_if ?? "none",
    steps: (schedule.next_steps ?? []).map((step, key) => ({
      ...{ key, action: step.action, command: step.command },
      ...{ wait: step.wait_seconds, condition: step.only_if ?? "none" },
    })),
  };
}

/** Whether players can be warned before: a start has none, a command disturbs nobody, and what happens nobody knows before. */
export function mayWarn({ action, trigger }: Pick<Draft, "action" | "trigger">): boolean {
  return trigger === "none" && action !== "command" && action !== "start";
}

/** The action that says how often all steps may run. */
export function paceOf({
  action,
  steps,
}: {
  action: Draft["action"];
  steps: readonly Pick<DraftStep, "action">[];
}): Draft["action"] {
  return [action, ...steps.map((step) => step.action)].find((one) => one !== "command") ?? "command";
}

/** The steps with another one behind them. */
export function withStep(steps: readonly DraftStep[]): readonly DraftStep[] {
  const key = Math.max(-1, ...steps.map((step) => step.key)) + 1;
  return [...steps, { key, action: "command", command: "", wait: 0, condition: "none" }];
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
    ...(draft.trigger !== "none" && { minute_of_day: 0, weekdays: 127, timezone: zoneOf(draft) }),
    ...{ action, enabled },
    label: label.trim(),
    command: action === "command" ? command : "",
    warn_minutes: mayWarn(draft) ? draft.warn : 0,
    only_if: conditionInput(draft.condition),
    ...triggerInput(draft),
    next_steps: draft.steps.map((step) => ({
      ...{ action: step.action, command: step.action === "command" ? step.command : "" },
      ...{ wait_seconds: step.wait, only_if: conditionInput(step.condition) },
    })),
  };
}

/** One that has no part in when it runs is no reason to refuse it. */
const zoneOf = ({ timezone }: Draft) => (isZone(timezone) ? timezone : "UTC");

function triggerInput({ trigger, emptyMinutes, pauseMinutes }: Draft) {
  if (trigger === "none") return { trigger: "" } as const;
  const empty = trigger === "server_empty" && { trigger_minutes: Number(emptyMinutes) };
  return { trigger, ...empty, pause_minutes: Number(pauseMinutes), every_minutes: 0 };
}

const conditionInput = (condition: Condition) => (condition === "none" ? "" : condition);

/** Minutes since midnight; undefined for what is not a time. */
function minuteOf(time: string): number | undefined {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time);
  return match ? Number(match[1]) * 60 + Number(match[2]) : undefined;
}

export type Problem =
  | `command-${number}`
  | "command"
  | "label"
  | "interval"
  | "time"
  | "days"
  | "zone"
  | "empty"
  | "pause";

/** What has to change before the service takes it, by field. */
export function problemsOf(draft: Draft): ReadonlySet<Problem> {
  const { action, label, every, time, weekdays, timezone } = draft;
  const problems = new Set<Problem>();
  if (action === "command" && !isCommand(draft.command)) problems.add("command");
  for (const step of draft.steps) {
    if (step.action === "command" && !isCommand(step.command)) problems.add(`command-${step.key}`);
  }
  if ([...label.trim()].length > maxLabelCharacters || unprintable.test(label.trim())) problems.add("label");
  if (draft.trigger !== "none") {
    if (draft.trigger === "server_empty" && !isMinutes(draft.emptyMinutes, 0)) problems.add("empty");
    if (!isMinutes(draft.pauseMinutes, 1)) problems.add("pause");
    return problems;
  }
  if (!intervalsOf(paceOf(draft)).includes(every)) problems.add("interval");
  if (every === 0 && minuteOf(time) === undefined) problems.add("time");
  if (weekdays === 0) problems.add("days");
  if (!isZone(timezone)) problems.add("zone");
  return problems;
}

function isMinutes(text: string, least: number): boolean {
  return /^\d{1,4}$/.test(text.trim()) && Number(text) >= least && Number(text) <= mostMinutes;
}

function isCommand(text: string): boolean {
  const command = text.trim().replace(/^\//, "").trim();
  if (command === "" || unprintable.test(command)) return false;
  return (
    [...command].length <= maxCommandCharacters && new TextEncoder().encode(command).length <= maxCommandBytes
  );
}
