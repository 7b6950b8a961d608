// One server as world operations and the reaper see it (docs/reference/world-lock.md#lock, docs/reference/reaper.md#order). Pure.

import { type MemberFacts, systemNames, type worlds } from "@svc/proto";
import type { z } from "zod";
import { type Server, systemRoleOf, worldClaimName } from "../cluster/resource.ts";
import type { StoredMember } from "../database/member.ts";
import type { WorldRow } from "./store.ts";

type WorldServer = z.output<typeof worlds.WorldServer>;

/**
 * Whether nothing of a run is left: desired state and phase are Stopped, there is no pod, and the operator has observed
 * the current object. Until it has, the phase is stale: a start that was taken back may still get its pod.
 */
export function isAtRest(server: Server | undefined, hasPod: boolean): boolean {
  if (hasPod) return false;
  if (!server) return true;
  const { spec, status, metadata } = server;
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return (spec.desiredState ?? "Stopped") === "Stopped" && status?.phase === "Stopped" && isSeen;
}

export function toWorldServer(
  name: string,
  about: { server: Server | undefined; row: WorldRow | undefined; hasPod: boolean },
): WorldServer {
  const { server, row, hasPod } = about;
  const members = row?.members?.map(factsOf) ?? [];
  const isSystem = systemNames.has(name) || (server !== undefined && systemRoleOf(server) !== "");
  const nodeName = server?.spec.nodeName || server?.status?.nodeName;
  return {
    name,
    exists: server !== undefined,
    ...(row?.ownerId !== undefined && { owner_id: row.ownerId }),
    ...(members.length > 0 && { members }),
    ...(row?.claimedAt && { claimed_at: row.claimedAt.toISOString() }),
    last_active_at: (row?.lastActiveAt ?? createdAt(server)).toISOString(),
    ...(row?.warned3dAt && { warned_3d_at: row.warned3dAt.toISOString() }),
    ...(row?.warned1dAt && { warned_1d_at: row.warned1dAt.toISOString() }),
    ...(row?.retiring && { retiring: row.retiring }),
    reaper_exempt: isSystem || server?.spec.reaperExempt === true,
    system: isSystem,
    phase: server?.status?.phase ?? "Unknown",
    desired_state: server?.spec.desiredState ?? "Stopped",
    stopped: isAtRest(server, hasPod),
    ...(nodeName && { node_name: nodeName }),
    volume_claim: server ? worldClaimName(server) : `world-${name}-0`,
  };
}

function factsOf({ user_id, rights, limits, ends_at }: StoredMember): MemberFacts {
  return { user_id, rights, ...(limits && { limits }), ...(ends_at !== undefined && { ends_at }) };
}

// An object without a row has just been created.
function createdAt(server: Server | undefined): Date {
  const at = Date.parse(server?.metadata.creationTimestamp ?? "");
  return new Date(Number.isNaN(at) ? Date.now() : at);
}
