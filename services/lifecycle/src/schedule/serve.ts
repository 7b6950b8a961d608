import type { Mesh } from "@svc/mesh";
import { schedules as contracts } from "@svc/proto";
import type { Logger, Registry } from "@svc/telemetry";
import type { ServerRcon } from "../console/rcon.ts";
import type { LifecycleStore } from "../database/schema.ts";
import type { ServerDeps } from "../server/deps.ts";
import { followBackups } from "./backup-events.ts";
import { create } from "./create.ts";
import type { ScheduleDeps } from "./deps.ts";
import { list } from "./list.ts";
import { createScheduleMetrics } from "./metrics.ts";
import { remove } from "./remove.ts";
import { runNow } from "./run-now.ts";
import { createScheduler, startTicking } from "./scheduler.ts";
import { createScheduleStore } from "./store.ts";
import { createTriggerStore } from "./trigger-store.ts";
import { update } from "./update.ts";

type SchedulesNeeds = {
  mesh: Mesh;
  deps: ServerDeps;
  database: LifecycleStore;
  registry: Registry;
  log: Logger;
  /** Shared with consoles: all commands for one server wait in one queue. */
  rcon: Pick<ServerRcon, "run">;
  /** Name of this replica. */
  replica: string;
};

/** Serves the operations and runs the scheduler until closed. */
export function startSchedules(needs: SchedulesNeeds): { close: () => Promise<void> } {
  const { mesh } = needs;
  const deps = scheduleDepsOf(needs, Date.now);
  const scheduler = createScheduler(deps);
  mesh.serve(contracts.list, list(deps));
  mesh.serve(contracts.create, create(deps));
  mesh.serve(contracts.update, update(deps));
  mesh.serve(contracts.remove, remove(deps));
  mesh.serve(contracts.runNow, runNow(deps, scheduler));
  // It starts before the stream exists, and over restarts of NATS.
  void followBackups(mesh, deps.triggers);
  return startTicking(deps, scheduler, needs.replica);
}

/** `now` is the clock of every decision; tests move it. */
export function scheduleDepsOf(
  { deps, database, registry, log, rcon }: Omit<SchedulesNeeds, "mesh" | "replica">,
  now: () => number,
): ScheduleDeps {
  return {
    ...deps,
    schedules: createScheduleStore(database),
    triggers: createTriggerStore(database),
    rcon,
    metrics: createScheduleMetrics(registry),
    log,
    now,
  };
}
