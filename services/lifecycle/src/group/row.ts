// Groups as they are stored, and as their account sees them. Pure.

import type { serverGroups as contracts } from "@svc/proto";
import type { Selectable } from "kysely";
import type { ServerGroupRunsTable, ServerGroupsTable } from "../database/schema.ts";
import type { ServerRow } from "../database/server-row.ts";
import type { Run } from "./decide.ts";

type GroupRow = Selectable<ServerGroupsTable>;
export type RunRow = Selectable<ServerGroupRunsTable>;
/** A server that is in a group: whoever owned it when it was added owns it still. */
export type MemberRow = { group_id: string; server_name: string; stage: number; row: ServerRow };

export type StoredGroup = { row: GroupRow; members: readonly MemberRow[]; run: RunRow | undefined };

/** Names by stage; a stage whose servers have all left is gone. */
export function stagesOf(members: readonly MemberRow[]): MemberRow[][] {
  const stages = new Map<number, MemberRow[]>();
  for (const member of members) stages.set(member.stage, [...(stages.get(member.stage) ?? []), member]);
  return [...stages].sort(([one], [other]) => one - other).map(([, stage]) => stage);
}

/** `may`: whether the account of the group may start and stop a server. */
export function toGroup(
  { row, members, run }: StoredGroup,
  may: (member: MemberRow) => boolean,
): contracts.ServerGroup {
  const stages = stagesOf(members).map((stage) =>
    stage.map((member) => ({ name: member.server_name, may: may(member) })),
  );
  const { id, name, stage_seconds } = row;
  return { id, name, stages, stage_seconds, ...(run && { run: toGroupRun(run) }) };
}

function toGroupRun(run: RunRow): contracts.GroupRun {
  const { id, direction, state, cancelling, stage, stages } = run;
  const isRunning = state === "running";
  return {
    ...{ id, direction, state, cancelling: isRunning && cancelling, stage, stages },
    ...(isRunning && { stage_until: run.stage_until.toISOString() }),
    by: run.started_by,
    started_at: run.started_at.toISOString(),
    ...(run.ended_at && { ended_at: run.ended_at.toISOString() }),
  };
}

export function toRun({ id, direction, cancelling, stage, stages, ...row }: RunRow): Run {
  const times = { stageUntil: row.stage_until.getTime(), stageMs: row.stage_seconds * 1_000 };
  return { id, direction, cancelling, stage, stages, ...times };
}
