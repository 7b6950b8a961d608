// Who may wake a server, and whether it can be woken (behaviour.md f, architecture.md 6.15). Pure.

import type { AutostartPolicy } from "@svc/proto";
import { type Server, wantsToRun } from "../cluster/resource.ts";
import type { ServerRow } from "../database/server-row.ts";
import { hasGivenUp } from "./info.ts";

export type Waker = {
  accountId: string | undefined;
  isStaff: boolean;
};

/** `ask-allowlist` leaves the last word to the list. */
export type WakeDecision = "allowed" | "refused" | "ask-allowlist";

export function decideWake(server: Server, row: ServerRow | undefined, waker: Waker): WakeDecision {
  const policy: AutostartPolicy = server.spec.autostartPolicy ?? "ownerOnly";
  if (policy === "public" || waker.isStaff) return "allowed";
  const isOwner = waker.accountId !== undefined && row?.ownerId === waker.accountId;
  if (isOwner) return "allowed";
  return policy === "allowlist" ? "ask-allowlist" : "refused";
}

export type Obstacle = "server_retiring" | "world_reclaiming" | "maintenance_in_progress" | "start_failed";

/** What is in the way of a start, by the server's own state; `holder` is who holds the world. */
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

/** Awake or on its way: a wake changes nothing and costs nothing. */
export function isAwake(server: Server): boolean {
  return wantsToRun(server) && server.status?.phase !== "Failed";
}

/** True when `name` may want to run as well; `inside` are servers that are being woken. 0 is no cap. */
export function hasRoom(
  servers: () => readonly Server[],
  highest: number,
  about: { name: string; inside: ReadonlyMap<string, unknown> },
): boolean {
  if (highest === 0) return true;
  const isCounted = (server: Server) => {
    const { name } = server.metadata;
    return name !== about.name && (wantsToRun(server) || about.inside.has(name));
  };
  return servers().filter(isCounted).length < highest;
}
