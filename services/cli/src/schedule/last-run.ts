// How the last run of a task ended, in a line, and step by step where it is a chain. Pure.

import type { schedules } from "@svc/proto";
import { table } from "../output.ts";
import { stepTexts } from "./input.ts";
import { stateOf } from "./run-text.ts";

type Task = schedules.Schedule;

/** Where the run under way is, else how the last one ended, with what it was for. */
export function lastText(task: Task): string {
  const { last_trigger: last, trigger_events = [] } = task;
  const [newest] = trigger_events;
  const isIdle = newest && newest.outcome !== "ran" && newest.outcome !== "waiting";
  const parts = [
    endText(task),
    ...(last ? [`(${last.trigger} ${minuteOf(last.at)}${last.about ? ` ${last.about}` : ""})`] : []),
    ...(isIdle && newest.outcome !== "missed" ? [`[${minuteOf(newest.at)} ${newest.outcome}]`] : []),
  ];
  return parts.filter(Boolean).join(" ") || "-";
}

function endText(task: Task): string {
  const { last_run_at, last_result, last_detail } = task;
  const state = stateOf(task);
  if (state !== "")
    return isChain(task) ? `${state}, step ${atStep(task)} of ${stepTexts(task).length}` : state;
  if (last_result === "") return "";
  const result = last_run_at === null ? last_result : `${minuteOf(last_run_at)} ${last_result}`;
  // What each step of a chain says is listed below the table.
  return last_detail === "" || hasSteps(task) ? result : `${result}: ${last_detail}`;
}

/** A table of the steps of the last run, or of the one under way; empty for a task of one step. */
export function stepsOfLastRun(task: Task): string {
  if (!hasSteps(task)) return "";
  const { id, last_run_at, step_endings = [] } = task;
  const isUnderWay = stateOf(task) !== "";
  const rest = isUnderWay ? ["to come", ""] : ["not begun", ""];
  const rows = stepTexts(task).map((text, at) => {
    const ending = step_endings[at];
    const ended = ending ? [ending.result, ending.detail] : rest;
    const now = isUnderWay && at === step_endings.length ? [stateOf(task), ""] : ended;
    return [`  ${at + 1}`, text, ...now];
  });
  const when = last_run_at === null ? "" : `, ${minuteOf(last_run_at)}`;
  const which = isUnderWay ? "Run under way" : "Last run";
  return `${which} of task ${id}${when}:\n${table(rows)}`;
}

const minuteOf = (at: string): string => at.slice(0, 16);
const isChain = ({ next_steps = [] }: Task): boolean => next_steps.length > 0;
const hasSteps = (task: Task): boolean => isChain(task) && (task.step_endings ?? []).length > 0;
const atStep = ({ step_endings = [] }: Task): number => step_endings.length + 1;
