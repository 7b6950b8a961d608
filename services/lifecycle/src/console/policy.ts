// Who may use a console, and when. Pure.

import type { Principal } from "@svc/proto";
import type { Server } from "../cluster/resource.ts";

/** Owner and staff only (docs/reference/console.md#access). */
export function mayUseConsole(principal: Principal, ownerId: string | undefined): boolean {
  if (principal.kind !== "account") return false;
  return principal.staff || (ownerId !== undefined && principal.user_id === ownerId);
}

const logging: ReadonlySet<string> = new Set(["Starting", "Running", "Stopping", "Failed"]);

/**
 * Whether there is a log to read; there is also one while the server starts and stops, and after a start that failed:
 * its pod is left, and its last lines say why.
 */
export function hasLog(server: Server | undefined): boolean {
  return logging.has(server?.status?.phase ?? "");
}

/** Whether commands can be run: RCON answers while the server is Running. */
export function takesCommands(server: Server): boolean {
  return server.status?.phase === "Running";
}
