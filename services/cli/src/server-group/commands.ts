// Groups of servers that start and stop together (docs/reference/groups.md#commands).

import { setTimeout as delay } from "node:timers/promises";
import { serverGroups } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { withHints } from "../hint.ts";
import { fields, type Outcome, planned, table, UsageError } from "../output.ts";
import { pick, resultRows, runText, secondsOf, stagesOf, stageText } from "./text.ts";

type At = { data: string };
type Given = At & { stage?: string[]; for?: string };
export type SetOptions = Given & { name?: string };
export type RunOptions = At & { wait?: boolean };

const none = "You have no groups. Make one with: `svc group create NAME --stage SERVER`";
const betweenPollsMs = 1_000;

export async function list({ data }: At): Promise<Outcome> {
  const answer = await connectExternal(data).call(serverGroups.list, {});
  const rows = answer.groups.map(({ id, name, stages, run }) => [name, stageText(stages), runText(run), id]);
  const text = rows.length === 0 ? none : table([["NAME", "STAGES", "LAST RUN", "ID"], ...rows]);
  return { json: answer, text: withHints(data, text) };
}

async function find(name: string, { data }: At): Promise<serverGroups.ServerGroup> {
  const { groups } = await connectExternal(data).call(serverGroups.list, {});
  return pick(groups, name);
}

export async function show(name: string, options: At): Promise<Outcome> {
  const group = await find(name, options);
  return { json: group, text: textOf(group) };
}

function textOf({ id, name, stages, stage_seconds, run }: serverGroups.ServerGroup): string {
  const lost = stages.flat().filter(({ may }) => !may);
  const about = fields({
    ...{ name, id, stages: stageText(stages), waits: `up to ${stage_seconds} s for each stage` },
    ...(lost.length > 0 && { "no right to": lost.map((one) => one.name).join(", ") }),
    "last run": runText(run),
  });
  return run ? `${about}\n\n${table([["STAGE", "SERVER", "RESULT"], ...resultRows(run)])}` : about;
}

export async function create(name: string, options: Given): Promise<Outcome> {
  const { stage = [], data } = options;
  if (stage.length === 0) throw new UsageError("say which servers it has, with a --stage for each stage");
  const made = await connectExternal(data).call(serverGroups.create, {
    ...{ name, stages: stagesOf(stage) },
    stage_seconds: options.for === undefined ? serverGroups.stageSeconds.default : secondsOf(options.for),
  });
  return { json: made, text: `${made.name} starts in this order: ${stageText(made.stages)}.` };
}

export async function set(name: string, options: SetOptions): Promise<Outcome> {
  const before = await find(name, options);
  const { stage } = options;
  const kept = before.stages.map((servers) => servers.map((one) => one.name));
  const changed = await connectExternal(options.data).call(serverGroups.change, {
    ...{ id: before.id, name: options.name ?? before.name, stages: stage ? stagesOf(stage) : kept },
    stage_seconds: options.for === undefined ? before.stage_seconds : secondsOf(options.for),
  });
  return { json: changed, text: textOf(changed) };
}

export async function remove(
  name: string,
  { yes = false, ...options }: At & { yes?: boolean },
): Promise<Outcome> {
  const { id, name: shown } = await find(name, options);
  if (!yes) return planned({ id }, `Would delete the group ${shown}; its servers stay as they are.`);
  await connectExternal(options.data).call(serverGroups.remove, { id });
  return { json: { id }, text: `The group ${shown} is deleted.` };
}

export async function begin(
  direction: serverGroups.Direction,
  name: string,
  options: RunOptions,
): Promise<Outcome> {
  const { id } = await find(name, options);
  const external = connectExternal(options.data);
  let group = await external.call(serverGroups[direction], { id });
  const runId = group.run?.id;
  while (options.wait && group.run?.state === "running" && group.run.id === runId) {
    await delay(betweenPollsMs);
    group = await external.call(serverGroups.read, { id });
  }
  const isWell = !options.wait || (group.run?.id === runId && group.run?.state === "done");
  return { json: group, text: textOf(group), exitCode: isWell ? 0 : 1 };
}

export async function cancel(name: string, options: At): Promise<Outcome> {
  const { id, run } = await find(name, options);
  const group = await connectExternal(options.data).call(serverGroups.cancel, { id });
  const text =
    run?.state === "running"
      ? "No further server is asked; those that were asked go on."
      : `Nothing to cancel; last run: ${runText(run)}.`;
  return { json: group, text };
}
