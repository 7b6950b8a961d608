import type { Mesh } from "@svc/mesh";
import { serverGroups as contracts } from "@svc/proto";
import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import type { LifecycleStore } from "../database/schema.ts";
import type { ServerDeps } from "../server/deps.ts";
import { cancel, change, create, list, type ManageDeps, read, remove, start, stop } from "./manage.ts";
import { passOverRuns } from "./runner.ts";
import { createGroupStore } from "./store.ts";

type GroupNeeds = {
  mesh: Mesh;
  deps: ServerDeps;
  database: LifecycleStore;
  log: Logger;
  /** Whether this replica reconciles: it alone goes on with runs. */
  isLeading: () => boolean;
};

/** How soon a run is seen that another replica began while none was under way; one that began here is seen at once. */
const restMs = 5_000;

/** Serves the operations and goes on with runs until closed. */
export function startGroups({ mesh, deps, database, log, isLeading }: GroupNeeds): {
  close: () => Promise<void>;
} {
  const groups = createGroupStore(database);
  const now = Date.now;
  const { group_tick: tickMs } = deps.settings;
  let isUnderWay = false;
  const loop = startLoop(
    async (signal) => {
      isUnderWay = isLeading() && (await passOverRuns({ ...deps, groups, log, now }, signal));
    },
    {
      everyMs: () => (isUnderWay ? tickMs : Math.max(tickMs, restMs)),
      onError: (error) =>
        log.warn({ error: error.message }, "reading runs of groups failed; retrying with the next tick"),
    },
  );
  serve(mesh, { groups, now, onChange: loop.ring });
  return { close: loop.close };
}

function serve(mesh: Pick<Mesh, "serve">, deps: ManageDeps): void {
  mesh.serve(contracts.list, list(deps));
  mesh.serve(contracts.read, read(deps));
  mesh.serve(contracts.create, create(deps));
  mesh.serve(contracts.change, change(deps));
  mesh.serve(contracts.remove, remove(deps));
  mesh.serve(contracts.start, start(deps));
  mesh.serve(contracts.stop, stop(deps));
  mesh.serve(contracts.cancel, cancel(deps));
}
