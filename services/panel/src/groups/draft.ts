// A group while somebody edits it. Pure.

import type { Input, Output } from "../api/operations.ts";

export type Group = Output<"serverGroups.list">["groups"][number];
export type Run = NonNullable<Group["run"]>;

export const mostStages = 10;
export const mostServers = 50;
export const longestName = 64;
/** Seconds that are offered. */
export const times = [60, 300, 600, 900, 1_800, 3_600] as const;

/** `stages`: the stage of each server from 1; 0 or none is not in the group. */
export type Draft = { name: string; stages: Readonly<Record<string, number>>; seconds: number };

export const emptyDraft: Draft = { name: "", stages: {}, seconds: 600 };

export function draftOf({ name, stages, stage_seconds }: Group): Draft {
  const places = stages.flatMap((servers, at) => servers.map((one) => [one.name, at + 1] as const));
  return { name, stages: Object.fromEntries(places), seconds: stage_seconds };
}

type Problem = "name" | "stages" | "servers";
export type Decided = { body: Input<"serverGroups.create"> | undefined; problems: readonly Problem[] };

/** What is sent; a stage without a server is closed up. */
export function decideDraft({ name, stages, seconds }: Draft): Decided {
  const numbers = Array.from({ length: mostStages }, (_, at) => at + 1);
  const given = numbers
    .map((number) => Object.keys(stages).filter((server) => stages[server] === number))
    .filter((servers) => servers.length > 0);
  const problems: Problem[] = [
    ...(name.trim() === "" ? (["name"] as const) : []),
    ...(given.length === 0 ? (["stages"] as const) : []),
    ...(given.flat().length > mostServers ? (["servers"] as const) : []),
  ];
  const body = { name: name.trim(), stages: given, stage_seconds: seconds };
  return { body: problems.length === 0 ? body : undefined, problems };
}

const open: ReadonlySet<string> = new Set(["waiting", "asked"]);

/** Servers of a run that are done with, of all. */
export function progressOf({ stages }: Pick<Run, "stages">): { value: number; max: number } {
  const all = stages.flat();
  return { value: all.filter(({ result }) => !open.has(result)).length, max: all.length };
}
