// Which steps a task may have (docs/reference/schedules.md#chains). Pure.

import { schedules as contracts, type InputOf } from "@svc/proto";
import type { Step } from "./chain.ts";

type TaskInput = InputOf<typeof contracts.create>;
type StepInput = NonNullable<TaskInput["next_steps"]>[number];
type Steps = Pick<TaskInput, "action" | "command" | "only_if" | "next_steps">;

const maxCommandCharacters = 1_024;
/** What RCON carries in one packet. */
const maxCommandBytes = 1_446;
// Control characters, separators of lines and paragraphs, and halves of a surrogate pair.
export const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;

/** The steps of an input, the task's own action first, or what is wrong with one of them. */
export function stepsOfInput(input: Steps): { first: Step; next: Step[] } | { problem: string } {
  const { action, command, only_if, next_steps: following = [] } = input;
  if (following.length >= contracts.maxSteps) {
    return { problem: `A schedule has at most ${contracts.maxSteps} steps.` };
  }
  const first = stepOf({ action, command, only_if }, true);
  if (typeof first === "string") return { problem: first };
  const next: Step[] = [];
  for (const [at, one] of following.entries()) {
    const step = stepOf(one, false);
    if (typeof step === "string") return { problem: `Step ${at + 2}: ${step}` };
    next.push(step);
  }
  return { first, next };
}

/** The step, or what is wrong with it. */
function stepOf({ command = "", wait_seconds = 0, ...input }: StepInput, isFirst: boolean): Step | string {
  const action = contracts.scheduleActions.find((one) => one === input.action);
  if (!action) return `action must be one of ${contracts.scheduleActions.join(", ")}.`;
  const conditions = contracts.stepConditions.filter((one) => !isFirst || !one.startsWith("previous_"));
  const condition = conditions.find((one) => one === input.only_if);
  const isKnown = condition !== undefined || input.only_if === undefined || input.only_if === "";
  if (!isKnown)
    return `only_if must be one of ${conditions.join(", ")}${isFirst ? " in the first step" : ""}.`;
  const { maxWaitSeconds } = contracts;
  if (!Number.isInteger(wait_seconds) || wait_seconds < 0 || wait_seconds > maxWaitSeconds) {
    return `wait_seconds must be 0 to ${maxWaitSeconds}.`;
  }
  return {
    action,
    command: action === "command" ? commandOf(command) : command,
    wait_seconds,
    ...(condition && { only_if: condition }),
  };
}

function commandOf(text: string): string {
  return text.trim().replace(/^\//, "").trim();
}

/** What is wrong with the command of a step. */
export function problemOfCommands(steps: readonly Step[]): string | undefined {
  const problems = steps.map(problemOfCommand);
  const at = problems.findIndex((problem) => problem !== undefined);
  return at <= 0 ? problems[0] : `Step ${at + 1}: ${problems[at]}`;
}

function problemOfCommand({ action, command }: Step): string | undefined {
  if (action !== "command")
    return command === "" ? undefined : "Only a task with action command has a command.";
  if (command === "") return "A task with action command needs a command.";
  if (unprintable.test(command)) return "The command must be one line without control characters.";
  const isShort =
    [...command].length <= maxCommandCharacters && Buffer.byteLength(command) <= maxCommandBytes;
  if (isShort) return undefined;
  return `The command must have at most ${maxCommandCharacters} characters and ${maxCommandBytes} bytes.`;
}
