// Which settings a task may have (docs/reference/schedules.md#task). Pure.

import { schedules as contracts, type InputOf } from "@svc/proto";
import { stepsOf } from "./chain.ts";
import { isZone } from "./next-run.ts";
import type { ScheduleSettings } from "./row.ts";
import { problemOfCommands, stepsOfInput, unprintable } from "./step-input.ts";
import { triggerOfInput } from "./trigger-input.ts";

export type ScheduleInput = Omit<InputOf<typeof contracts.create>, "name">;
type ValidatedInput =
  | { kind: "fine"; settings: ScheduleSettings }
  | { kind: "refused"; fault: "bad_schedule" | "bad_request"; message: string };

const maxLabelCharacters = 64;
/** Actions other than a command run at most once an hour. */
const minIntervalMinutes = 60;
const everyDay = 127;

export function validateInput(input: ScheduleInput): ValidatedInput {
  const steps = stepsOfInput(input);
  if ("problem" in steps) return bad(steps.problem);
  const when = triggerOfInput(input);
  if ("problem" in when) return bad(when.problem);
  const { action, command, only_if = "" } = steps.first;
  const isByClock = when.trigger === "";
  const every = isByClock ? (input.every_minutes ?? 0) : 0;
  const mayWarn = isByClock && action !== "command" && action !== "start";
  const settings: ScheduleSettings = {
    ...{ action, command, only_if, next_steps: steps.next },
    ...when,
    label: (input.label ?? "").trim(),
    every_minutes: every,
    minute_of_day: isByClock && every === 0 ? (input.minute_of_day ?? 0) : 0,
    weekdays: isByClock ? input.weekdays : everyDay,
    timezone: input.timezone,
    warn_minutes: mayWarn ? (input.warn_minutes ?? 0) : 0,
    enabled: input.enabled ?? true,
  };
  const problem = problemOf(settings, input);
  if (problem !== undefined) return bad(problem);
  const commandProblem = problemOfCommands([steps.first, ...steps.next]);
  if (commandProblem !== undefined) {
    return { kind: "refused", fault: "bad_request", message: commandProblem };
  }
  return { kind: "fine", settings };
}

function bad(message: string): ValidatedInput {
  return { kind: "refused", fault: "bad_schedule", message };
}

function isOneOf(choices: readonly number[], value: number): boolean {
  return choices.includes(value);
}

function isIntegerWithin(value: number, from: number, to: number): boolean {
  return Number.isInteger(value) && value >= from && value <= to;
}

function problemOf(settings: ScheduleSettings, input: ScheduleInput): string | undefined {
  const { scheduleIntervals, scheduleWarnings } = contracts;
  const { label, every_minutes: every } = settings;
  const heavy = stepsOf(settings).find(({ action }) => action !== "command");
  if ([...label].length > maxLabelCharacters || unprintable.test(label)) {
    return `label must be one line of at most ${maxLabelCharacters} characters.`;
  }
  if (!isOneOf(scheduleIntervals, input.every_minutes ?? 0)) {
    return `every_minutes must be one of ${scheduleIntervals.join(", ")}.`;
  }
  if (heavy && every > 0 && every < minIntervalMinutes) {
    return `A ${heavy.action} can repeat at most every ${minIntervalMinutes} minutes.`;
  }
  if (!isIntegerWithin(input.minute_of_day ?? 0, 0, 1_439)) return "minute_of_day must be 0 to 1439.";
  if (!isIntegerWithin(input.weekdays, 1, 127)) {
    return "weekdays must be 1 to 127: bit 0 is Sunday, bit 6 Saturday.";
  }
  if (!isZone(settings.timezone)) return "timezone must be the name of a time zone such as Europe/Berlin.";
  if (!isOneOf(scheduleWarnings, input.warn_minutes ?? 0)) {
    return `warn_minutes must be one of ${scheduleWarnings.join(", ")}.`;
  }
  return undefined;
}
