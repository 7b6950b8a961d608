// What the command line reads and says of groups. Pure.

import { parseDuration } from "@svc/config";
import type { serverGroups } from "@svc/proto";
import { CommandError, UsageError } from "../output.ts";

type Group = serverGroups.ServerGroup;
type Run = serverGroups.GroupRun;

/** Names by stage, from one `--stage` each. */
export function stagesOf(given: readonly string[]): string[][] {
  return given.map((text) => {
    const names = text.split(",").map((name) => name.trim());
    if (names.every((name) => name !== "")) return names;
    throw new UsageError(`--stage ${text}: write names of servers with commas between them, such as a,b`);
  });
}

/** Seconds of `--for`. */
export function secondsOf(span: string): number {
  const ms = parseDuration(span);
  if (ms !== undefined && ms > 0) return Math.round(ms / 1_000);
  throw new UsageError(`--for ${span}: write a span such as 90s, 10m or 1h`);
}

/** The group that is named; a name counts before an id. */
export function pick(groups: readonly Group[], name: string): Group {
  const found = groups.find((one) => one.name === name) ?? groups.find((one) => one.id === name);
  if (found) return found;
  throw new CommandError(`you have no group ${name}; list them with: \`svc group list\``);
}

export function stageText(stages: Group["stages"]): string {
  if (stages.length === 0) return "no server any more";
  return stages.map((stage) => stage.map(({ name }) => name).join(", ")).join(" > ");
}

const doing = { start: "starting", stop: "stopping" } as const;
const did = {
  start: { done: "started", failed: "not started", cancelled: "start cancelled" },
  stop: { done: "stopped", failed: "not stopped", cancelled: "stop cancelled" },
} as const;

/** One line on a run. */
export function runText(run: Run | undefined): string {
  if (!run) return "-";
  const { direction, state, stage, stages } = run;
  if (state !== "running") return did[direction][state];
  return `${run.cancelling ? "cancelling" : doing[direction]}, stage ${stage + 1} of ${stages.length}`;
}

const words: Record<serverGroups.ServerResult, string> = {
  waiting: "waiting",
  asked: "under way",
  done: "done",
  refused: "refused",
  failed: "failed to start",
  late: "not in time",
  changed: "changed by somebody else",
  left: "not in the group any more",
  left_out: "left out",
};

/** Rows of a table: stage, server, how it ended. */
export function resultRows({ stages }: Run): string[][] {
  return stages.flatMap((stage, at) =>
    stage.map(({ name, result, code }) => [
      ...[String(at + 1), name, code === undefined ? words[result] : `${words[result]}: ${code}`],
    ]),
  );
}
