import type { Mesh } from "@svc/mesh";
import { histories as contracts } from "@svc/proto";
import type { Logger, Registry } from "@svc/telemetry";
import type { ServerRcon } from "../console/rcon.ts";
import type { LifecycleStore } from "../database/schema.ts";
import { createOwnershipStore } from "../ownership/store.ts";
import type { ServerDeps } from "../server/deps.ts";
import { readPlatform, readServer } from "./read.ts";
import { createSampler, startSampling } from "./sampler.ts";
import { createHistoryStore } from "./store.ts";
import { createTicks } from "./ticks.ts";

type HistoryNeeds = {
  mesh: Mesh;
  deps: ServerDeps;
  database: LifecycleStore;
  registry: Registry;
  log: Logger;
  rcon: Pick<ServerRcon, "run">;
  /** Whether this replica reconciles: it alone samples. */
  isLeading: () => boolean;
};

/** Serves the operations and samples until closed. */
export function startHistory(needs: HistoryNeeds): { close: () => Promise<void> } {
  const { mesh, deps, database, rcon } = needs;
  const { history_sample: intervalMs, history_tick_queries: concurrency } = deps.settings;
  const history = createHistoryStore(database);
  const now = Date.now;
  mesh.serve(
    contracts.readServer,
    readServer({ ...deps, history, ownership: createOwnershipStore(database), now }),
  );
  mesh.serve(contracts.readPlatform, readPlatform({ history, now }));
  const about = { ...needs, ...deps, history, ticks: createTicks({ rcon, concurrency }), intervalMs, now };
  return startSampling(about, createSampler(about));
}
