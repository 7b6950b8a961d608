import type { Mesh } from "@svc/mesh";
import type { Logger, Registry } from "@svc/telemetry";
import type { ServerDeps } from "../server/deps.ts";
import type { LifecycleStore } from "../server/schema.ts";

export type SchedulesNeeds = {
  mesh: Mesh;
  deps: ServerDeps;
  database: LifecycleStore;
  registry: Registry;
  log: Logger;
  /** Name of this replica. */
  replica: string;
};

/** Answers the operations and runs what belongs to them until closed. */
export function startSchedules(_needs: SchedulesNeeds): { close: () => Promise<void> } {
  return { close: async () => {} };
}
