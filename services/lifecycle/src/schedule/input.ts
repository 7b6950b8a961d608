// Which settings a task may have (docs/reference/schedules.md#task). Pure.

import { schedules as contracts, type InputOf } from "@svc/proto";
import { isZone } from "./next-run.ts";
import type { ScheduleSettings } from "./row.ts";

export type ScheduleInput = Omit<InputOf<typeof contracts.create>, "name">;
type ValidatedInput =
  | { kind: "fine"; settings: ScheduleSettings }
  | { kind: "refused"; fault: "bad_schedule" | "bad_request"; message: string };

const maxLabelCharacters = 64;
const maxCommandCharacters = 1_024;
/** What RCON carries in one packet. */
const maxCommandBytes = 1_446;
/** Actions other than a command run at most once an hour. */
const minIntervalMinutes = 60;
// Control characters, separators of lines and paragraphs, and halves of a surrogate pair.
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;

export function validateInput(input: ScheduleInput): ValidatedInput {
  const action = contracts.scheduleActions.find((one) => one === input.action);
  if (!action) return bad(`action must be one of ${contracts.scheduleActions.join(", ")}.`);
  const every = input.every_minutes ?? 0;
  const settings: ScheduleSettings = {
    action,
    label: (input.label ?? "").trim(),
    command: action === "command" ? commandOf(input.command ?? "") : (input.command ?? ""),
    every_minutes: every,
    minute_of_day: every === 0 ? (input.minute_of_day ?? 0) : 0,
    weekdays: input.weekdays,
    timezone: input.timezone,
    warn_minutes: action === "command" || action === "start" ? 0 : (input.warn_minutes ?? 0),
    enabled: input.enabled ?? true,
  };
  const problem = problemOf(settings, input);
  if (problem !== undefined) return bad(problem);
  const commandProblem = problemOfCommand(settings);
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
  const { action, label, every_minutes: every } = settings;
  if ([...label].length > maxLabelCharacters || unprintable.test(label)) {
    return `label must be one line of at most ${maxLabelCharacters} characters.`;
  }
  if (!isOneOf(scheduleIntervals, every)) {
    return `every_minutes must be one of ${scheduleIntervals.join(", ")}.`;
  }
  if (action !== "command" && every > 0 && every < minIntervalMinutes) {
    return `A ${action} can repeat at most every ${minIntervalMinutes} minutes.`;
  }
  if (!isIntegerWithin(input.minute_of_day ?? 0, 0, 1_439)) return "minute_of_day must be 0 to 1439.";
  if (!isIntegerWithin(settings.weekdays, 1, 127)) {
    return "weekdays must be 1 to 127: bit 0 is Sunday, bit 6 Saturday.";
  }
  if (!isZone(settings.timezone)) return "timezone must be the name of a time zone such as Europe/Berlin.";
  if (!isOneOf(scheduleWarnings, input.warn_minutes ?? 0)) {
    return `warn_minutes must be one of ${scheduleWarnings.join(", ")}.`;
  }
  return undefined;
}

function commandOf(text: string): string {
  return text.trim().replace(/^\//, "").trim();
}

function problemOfCommand({ action, command }: ScheduleSettings): string | undefined {
  if (action !== "command")
    return command === "" ? undefined : "Only a task with action command has a command.";
  if (command === "") return "A task with action command needs a command.";
  if (unprintable.test(command)) return "The command must be one line without control characters.";
  const isShort =
    [...command].length <= maxCommandCharacters && Buffer.byteLength(command) <= maxCommandBytes;
  if (isShort) return undefined;
  return `The command must have at most ${maxCommandCharacters} characters and ${maxCommandBytes} bytes.`;
}
