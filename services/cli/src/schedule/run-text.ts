// Where a run of a task is, in words. Pure.

import type { schedules } from "@svc/proto";

type Run = Pick<schedules.Schedule, "run_state" | "waits_until">;

const states: Record<string, string> = {
  claimed: "running",
  stopping: "stopping the server",
  backing_up: "backing up",
  starting: "starting the server",
};

/** Empty when nothing runs. A state of a newer service has its name. */
export function stateOf({ run_state, waits_until }: Run): string {
  if (waits_until !== undefined) return `waiting until ${waits_until.slice(0, 19)}Z`;
  return states[run_state] ?? run_state;
}

/** What became of a run that was just asked for. Commands in it are in backticks. */
export function runText(
  task: Run & Pick<schedules.Schedule, "last_result" | "last_detail">,
  server: string,
): string {
  const state = stateOf(task);
  if (state === "") return `${task.last_result} ${task.last_detail}`.trim();
  return `${state}; how it ends is listed by: \`svc schedule list ${server}\``;
}
