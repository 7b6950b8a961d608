// When a console can be used. Pure.

import type { Server } from "../cluster/resource.ts";

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
