// Servers of one account that start and stop together, in an order (docs/reference/groups.md).
// Vocabulary: stage = servers of a group that start at the same time; run = one start or stop of a whole group; a run passes
// the stages in their order when it starts them, and in the opposite order when it stops them.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { Timestamp } from "../text.ts";

/** Groups that one account may have, stages of a group, and servers of all its stages together. */
export const mostGroups = 20;
export const mostStages = 10;
export const mostServers = 50;
/** Characters of a name. */
export const longestName = 64;
/** Seconds that a run waits for one stage. */
export const stageSeconds = { least: 30, most: 3_600, default: 600 } as const;

export const Direction = z.enum(["start", "stop"]);
export type Direction = z.output<typeof Direction>;

/**
 * `failed`: a server did not do what it should, so the stages behind it were left out; `cancelled`: somebody ended it.
 */
export const RunState = z.enum(["running", "done", "failed", "cancelled"]);
export type RunState = z.output<typeof RunState>;

/**
 * `waiting`: not asked yet, with a code when it was refused and is asked again; `asked`: starting or stopping; `done`: ready,
 * or stopped; `refused`, with a code; `failed`: it does not start; `late`: not within the time of its stage; `changed`:
 * somebody else stopped it while it was to start, or started it while it was to stop; `left`: it is in the group no longer;
 * `left_out`: the run ended before it.
 */
export const ServerResult = z.enum([
  "waiting",
  "asked",
  "done",
  "refused",
  "failed",
  "late",
  "changed",
  "left",
  "left_out",
]);
export type ServerResult = z.output<typeof ServerResult>;

export const RunServer = z.strictObject({
  name: z.string(),
  result: ServerResult,
  /** Wire code of the refusal (docs/reference/errors.md). */
  code: z.string().optional(),
});
export type RunServer = z.output<typeof RunServer>;

export const GroupRun = z.strictObject({
  id: z.string(),
  direction: Direction,
  state: RunState,
  /** Somebody cancelled it; it ends in a moment. */
  cancelling: z.boolean(),
  /** The stage that it is at, or ended at; 0 is the first of `stages`. */
  stage: z.int().min(0),
  /** Until when the run waits for this stage. */
  stage_until: Timestamp.optional(),
  /** In the order of the run, as the group was when it began. */
  stages: z.array(z.array(RunServer)),
  /** User name of who began it. */
  by: z.string(),
  started_at: Timestamp,
  ended_at: Timestamp.optional(),
});
export type GroupRun = z.output<typeof GroupRun>;

export const ServerGroup = z.strictObject({
  id: z.string(),
  name: z.string(),
  /** In the order in which they start. */
  stages: z.array(
    z.array(
      z.strictObject({
        name: z.string(),
        /** Whether the account may start and stop it now. */
        may: z.boolean(),
      }),
    ),
  ),
  stage_seconds: z.int(),
  /** The run under way, or the last one. */
  run: GroupRun.optional(),
});
export type ServerGroup = z.output<typeof ServerGroup>;

const spec = "docs/reference/groups.md#operations";
const runs = "docs/reference/groups.md#run";
const path = "/api/v1/me/groups";
const one = `${path}/{id}` as const;
const own = { face: "external", tier: "app" } as const;
const params = { id: z.string().min(1).max(64) };
const given = {
  name: z.string().max(256),
  stages: z.array(z.array(z.string().max(64)).max(200)).max(100),
  stage_seconds: z.int().default(stageSeconds.default),
};

export const list = operation({
  subject: "lifecycle.group.list",
  http: { ...own, method: "GET", path },
  output: z.strictObject({ groups: z.array(ServerGroup), limit: z.int() }),
  summary: "The caller's groups of servers by name, each with its last run.",
  spec,
});

export const read = operation({
  subject: "lifecycle.group.read",
  http: { ...own, method: "GET", path: one },
  params,
  output: ServerGroup,
  faults: ["group_not_found"],
  summary: "One group with its last run.",
  spec,
});

export const create = operation({
  subject: "lifecycle.group.create",
  http: { ...own, method: "POST", path, status: 201 },
  body: given,
  output: ServerGroup,
  faults: ["bad_group", "group_name_taken", "group_limit"],
  onceById: true,
  summary: "Makes a group of servers that the caller may start and stop.",
  spec,
});

export const change = operation({
  subject: "lifecycle.group.change",
  http: { ...own, method: "PUT", path: one },
  params,
  /** All of it is replaced. */
  body: given,
  output: ServerGroup,
  faults: ["bad_group", "group_not_found", "group_name_taken", "group_running"],
  onceById: true,
  summary: "Changes the name, the stages or the time of a group that neither starts nor stops.",
  spec,
});

export const remove = operation({
  subject: "lifecycle.group.remove",
  http: { ...own, method: "DELETE", path: one, status: 204 },
  params,
  output: nothing,
  faults: ["group_not_found", "group_running"],
  onceById: true,
  summary: "Deletes a group; its servers stay as they are.",
  spec,
});

export const start = operation({
  subject: "lifecycle.group.start",
  http: { ...own, method: "POST", path: `${one}/start`, status: 202 },
  params,
  output: ServerGroup,
  faults: ["group_not_found", "group_running", "group_empty"],
  onceById: true,
  summary: "Starts a group: a stage begins when all servers of the former are ready.",
  spec: runs,
});

export const stop = operation({
  subject: "lifecycle.group.stop",
  http: { ...own, method: "POST", path: `${one}/stop`, status: 202 },
  params,
  output: ServerGroup,
  faults: ["group_not_found", "group_running", "group_empty"],
  onceById: true,
  summary: "Stops a group, the last stage first.",
  spec: runs,
});

export const cancel = operation({
  subject: "lifecycle.group.cancel",
  http: { ...own, method: "POST", path: `${one}/cancel`, status: 202 },
  params,
  output: ServerGroup,
  faults: ["group_not_found"],
  onceById: true,
  summary: "Ends the run of a group; servers that were asked already go on. Without a run nothing changes.",
  spec: runs,
});
