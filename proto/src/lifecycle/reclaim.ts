// What storage asks of servers: for backups, files and restores, and for the daily batch that reclaims idle worlds
// (docs/reference/world-lock.md#lock, docs/reference/reaper.md#order).
// Vocabulary: describe = what a world operation must know of a server; hold = ask for its stop and nothing else;
// release = the world is archived and gone, the server has no owner any more.

import { z } from "zod";
import { MemberFacts } from "../access/grant.ts";
import { event, nothing, page, request } from "../contract.ts";
import { Timestamp } from "../text.ts";
import { ServerNameParam } from "./names.ts";
import { Phase, RetireState } from "./server-info.ts";

const name = { name: ServerNameParam };

/** One server as world operations and the reaper see it. */
export const WorldServer = z.strictObject({
  name: z.string(),
  /** False when only the row is left: the object is gone. */
  exists: z.boolean(),
  owner_id: z.string().optional(),
  /** Whom its owner shares it with, as long as that lasts (docs/reference/shared-access.md#decision). */
  members: z.array(MemberFacts).optional(),
  claimed_at: Timestamp.optional(),
  last_active_at: Timestamp,
  warned_3d_at: Timestamp.optional(),
  warned_1d_at: Timestamp.optional(),
  retiring: RetireState.optional(),
  reaper_exempt: z.boolean(),
  system: z.boolean(),
  phase: Phase,
  desired_state: z.enum(["Running", "Stopped"]),
  /** Desired Stopped, phase Stopped and no pod left: a world operation may begin. */
  stopped: z.boolean(),
  node_name: z.string().optional(),
  /** Name of the volume claim that holds the world, whether it exists or not. */
  volume_claim: z.string(),
});
export type WorldServer = z.output<typeof WorldServer>;

export const describeServer = request({
  subject: "lifecycle.world.describe",
  input: name,
  output: WorldServer,
  faults: ["not_found"],
  callers: ["storage"],
  idempotent: true,
  deadlineMs: 5_000,
  summary: "What a world operation must know of one server, read fresh from the cluster.",
  spec: "docs/reference/world-lock.md#lock",
});

/** Spans in which a server was stopped, so that only people changed its files; the newest. */
export const mostRests = 100;

export const readLastStart = request({
  subject: "lifecycle.world.last-start",
  input: name,
  output: z.strictObject({
    /** When players could join after the last good start; absent when none is known. */
    ready_at: Timestamp.optional(),
    /** Since then; the last one may be open. */
    rests: z.array(z.strictObject({ from: Timestamp, to: Timestamp.optional() })).max(mostRests),
  }),
  callers: ["storage"],
  idempotent: true,
  deadlineMs: 5_000,
  summary: "The last start of a server that went well, and when it was stopped since.",
  spec: "docs/reference/crashes.md#safe-start",
});

export const listWorlds = request({
  subject: "lifecycle.world.list",
  input: { cursor: z.string().max(200).optional() },
  output: page(WorldServer),
  callers: ["storage"],
  idempotent: true,
  summary: "Every server and every row whose object is gone, in pages by name.",
  spec: "docs/reference/reaper.md#order",
});

export const holdWorld = request({
  subject: "lifecycle.world.hold",
  input: name,
  output: z.strictObject({ stopped: z.boolean() }),
  faults: ["not_found"],
  callers: ["storage"],
  idempotent: true,
  summary: "Sets the desired state to Stopped and says whether nothing runs any more.",
  spec: "docs/reference/reaper.md#order",
});

export const resumeServer = request({
  subject: "lifecycle.world.resume",
  input: name,
  output: nothing,
  faults: ["not_found", "at_capacity", "server_retiring", "maintenance_in_progress", "world_reclaiming"],
  callers: ["storage"],
  idempotent: true,
  summary: "Sets the desired state back to Running after an operation that stopped it.",
  spec: "docs/reference/cli.md#backup-now",
});

export const releaseWorld = request({
  subject: "lifecycle.world.release",
  input: {
    ...name,
    /** `reclaimed`: idle world archived; `released`: given up; `deleted`: the object and the row go too. */
    outcome: z.enum(["reclaimed", "released", "deleted"]),
    /** The owner whose world it was when the decision was made; another one now means that nothing is done. */
    owner_id: z.string().max(64).optional(),
  },
  output: z.strictObject({ done: z.boolean() }),
  callers: ["storage"],
  idempotent: true,
  summary:
    "Releases a server: no owner, timers reset, allowlist emptied; a deletion also removes the object, its row and its names.",
  spec: "docs/reference/reaper.md#guard, docs/reference/reaper.md#order",
});

export const stampWarning = request({
  subject: "lifecycle.world.stamp-warning",
  input: { ...name, window: z.enum(["3d", "1d"]), at: Timestamp },
  output: nothing,
  faults: ["not_found"],
  callers: ["storage"],
  idempotent: true,
  summary: "Notes that the owner was mailed before the idle world is reclaimed.",
  spec: "docs/reference/reaper.md#warnings",
});

export const restartIdleClock = request({
  subject: "lifecycle.world.restart-idle-clock",
  input: name,
  output: nothing,
  faults: ["not_found"],
  callers: ["storage"],
  idempotent: true,
  summary: "Restarts the idle time of a server without owner and archive.",
  spec: "docs/reference/reaper.md#verdict",
});

export const switchWorld = request({
  subject: "lifecycle.world.switch",
  input: {
    ...name,
    /** What the server's lock annotation must say; it goes with the same write. */
    lock: z.string().min(1).max(128),
    node_name: z.string().min(1).max(253),
    volume_claim: z.string().min(1).max(253),
  },
  output: nothing,
  faults: ["not_found", "not_stopped", "maintenance_in_progress"],
  callers: ["storage"],
  idempotent: true,
  summary: "Switches a stopped server to another node and volume and unlocks it, in one step.",
  spec: "docs/reference/moves.md#steps",
});

export const serverReleased = event({
  subject: "lifecycle.server.released",
  data: z.object({ name: z.string(), outcome: z.string(), at: z.iso.datetime() }),
  key: (data) => data.name,
  sample: { name: "survival", outcome: "reclaimed", at: "2026-01-01T00:00:00.000Z" },
  listeners: ["gateway-external", "storage"],
  summary: "A server has no owner any more.",
});
