// A run whose process still runs although RCON was lost (docs/reference/crashes.md#hang). Pure.

import type { Pod } from "@svc/kube";
import type { MinecraftServerStatus } from "@svc/proto";

export type HungRun = {
  startedAt: Date;
  /** When the server stopped being Running. */
  lostAt: Date;
};

/** Times of containers are whole seconds, by the clock of the node. */
const clockSlackMs = 2_000;

/** Undefined while a start is under way: a process that has never answered does not hang, it is late. */
export function hungRunOf(status: MinecraftServerStatus, pod: Pod): HungRun | undefined {
  if (status.phase !== "Starting" && status.phase !== "Failed") return undefined;
  if (pod.metadata.deletionTimestamp !== undefined) return undefined;
  const { state } = pod.status?.containerStatuses?.[0] ?? {};
  const startedAt = new Date(state?.running?.startedAt ?? "");
  const lostAt = new Date(status.startRequestedAt ?? "");
  return startedAt.getTime() < lostAt.getTime() - clockSlackMs ? { startedAt, lostAt } : undefined;
}
