import type { Handler, Mesh } from "@svc/mesh";
import { reapers as contracts } from "@svc/proto";
import { startLoop } from "@svc/service/loop";
import type { Registry } from "@svc/telemetry";
import type { StorageDeps } from "../deps.ts";
import { createReaperMetrics } from "./metrics.ts";
import { createReaper, type Reaper } from "./reaper.ts";
import { findNewestRun, findRun } from "./run-store.ts";
import { toReaperRun } from "./view.ts";

const startReaper =
  (reaper: Reaper): Handler<typeof contracts.startReaper> =>
  async (_context, { retention_only, started_by }) =>
    toReaperRun(await reaper.start({ startedBy: started_by, retentionOnly: retention_only }));

const readReaper =
  ({ db }: Pick<StorageDeps, "db">): Handler<typeof contracts.readReaper> =>
  async (context, { id }) => {
    const row = id === undefined ? await findNewestRun(db) : await findRun(db, id);
    if (!row) throw context.fault("not_found", { message: "Reaper run not found." });
    return toReaperRun(row);
  };

/** Answers for the reaper on this replica, and begins a run when one is due. */
export function startReaping(
  mesh: Pick<Mesh, "serve">,
  deps: StorageDeps,
  registry: Registry,
): { close: () => Promise<void> } {
  const reaper = createReaper({ ...deps, reaperMetrics: createReaperMetrics(registry) });
  mesh.serve(contracts.startReaper, startReaper(reaper));
  mesh.serve(contracts.readReaper, readReaper(deps));
  const { reaper_check: everyMs } = deps.settings.storage;
  const ticking = startLoop(reaper.tick, {
    firstMs: everyMs,
    everyMs,
    onError: (error) => deps.log.warn({ error: error.message }, "reaper tick failed; retrying"),
  });
  return {
    close: async () => {
      await ticking.close();
      await reaper.close();
    },
  };
}
