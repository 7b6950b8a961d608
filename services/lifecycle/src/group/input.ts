// What a group may be (docs/reference/groups.md#input). Pure.

import { serverGroups as contracts, isUserName, visibleName } from "@svc/proto";

export type Given = { name: string; stages: readonly (readonly string[])[]; stage_seconds: number };
export type Group = { name: string; stages: string[][]; stage_seconds: number };

type Read = { kind: "read"; group: Group } | { kind: "refused"; message: string };

/** The group as it is stored; which of its servers the account may start and stop is another question. */
export function readGroup({ name: typed, stages, stage_seconds }: Given): Read {
  const name = visibleName(typed);
  const names = stages.flat();
  const problem =
    problemOfName(name) ??
    problemOfStages(stages, names) ??
    problemOfServers(names) ??
    problemOfTime(stage_seconds);
  if (problem !== undefined) return { kind: "refused", message: problem };
  return { kind: "read", group: { name, stages: stages.map((stage) => [...stage]), stage_seconds } };
}

function problemOfName(name: string): string | undefined {
  if (name === "") return "Give the group a name.";
  if (name.length <= contracts.longestName) return undefined;
  return `The name of a group has at most ${contracts.longestName} characters; this one has ${name.length}.`;
}

function problemOfStages(stages: Given["stages"], names: readonly string[]): string | undefined {
  if (stages.length === 0) return "A group needs a stage with at least one server.";
  if (stages.some((stage) => stage.length === 0)) return "Each stage needs at least one server.";
  if (stages.length > contracts.mostStages)
    return `A group can have ${contracts.mostStages} stages; these are ${stages.length}.`;
  if (names.length > contracts.mostServers)
    return `A group can have ${contracts.mostServers} servers; these are ${names.length}.`;
  return undefined;
}

function problemOfServers(names: readonly string[]): string | undefined {
  const wrong = names.find((name) => !isUserName(name));
  if (wrong !== undefined) return `${quoted(wrong)} is not the name of a server.`;
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return twice === undefined ? undefined : `${twice} is in the group twice; a server has one stage.`;
}

function problemOfTime(seconds: number): string | undefined {
  const { least, most } = contracts.stageSeconds;
  if (seconds >= least && seconds <= most) return undefined;
  return `A stage is waited for ${least} to ${most} seconds; this is ${seconds}.`;
}

function quoted(text: string): string {
  return `"${visibleName(text).slice(0, 40)}"`;
}
