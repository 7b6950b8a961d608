// Who may wake a server, and whether it can be woken (docs/reference/wake.md#checks, docs/reference/wake.md#policy). Pure.

import type { AutostartPolicy } from "@svc/proto";
import { type Server, wantsToRun } from "../cluster/resource.ts";
import type { ServerRow } from "../database/server-row.ts";
import { hasGivenUp } from "./info.ts";

export type Waker = {
  isStaff: boolean;
  /** The owner, or somebody with whom the right `power` is shared. */
  hasPower: boolean;
};

/** `check-allowlist`: the allowlist decides. */
type WakeDecision = "allowed" | "refused" | "check-allowlist";

export function decideWake(server: Server, { isStaff, hasPower }: Waker): WakeDecision {
  const policy: AutostartPolicy = server.spec.autostartPolicy ?? "ownerOnly";
  if (policy === "public" || isStaff || hasPower) return "allowed";
  return policy === "allowlist" ? "check-allowlist" : "refused";
}

export type Obstacle = "server_retiring" | "world_reclaiming" | "maintenance_in_progress" | "start_failed";

/** What blocks a start, by the server's own state; `holder` is the kind of the lock on the world. */
export function obstacleOf(
  server: Server,
  row: ServerRow | undefined,
  about: { holder: string | undefined; autoRestarts: number },
): Obstacle | undefined {
  if (row?.retiring) return "server_retiring";
  if (about.holder === "reap") return "world_reclaiming";
  if (about.holder !== undefined) return "maintenance_in_progress";
  return hasGivenUp(server, about.autoRestarts) ? "start_failed" : undefined;
}

/** Running or starting: a wake changes nothing. */
export function isAwake(server: Server): boolean {
  return wantsToRun(server) && server.status?.phase !== "Failed";
}

/** Whether `name` may run as well; `reserved` are servers being woken. 0 means no limit. */
export function hasCapacity(
  servers: () => readonly Server[],
  limit: number,
  about: { name: string; reserved: ReadonlyMap<string, unknown> },
): boolean {
  if (limit === 0) return true;
  const isCounted = (server: Server) => {
    const { name } = server.metadata;
    return name !== about.name && (wantsToRun(server) || about.reserved.has(name));
  };
  return servers().filter(isCounted).length < limit;
}
