import type { Handler } from "@svc/mesh";
import type { builds } from "@svc/proto";
import type { BuildDeps } from "./deps.ts";
import { progressOf } from "./progress.ts";
import { reconcileBuild } from "./reconcile.ts";
import { type BuildRow, toBuild } from "./row.ts";
import { earlierSteps, findBuild } from "./store.ts";

/** builds.build.read: reconciled, unless the cluster can't be asked; then as it was known last. */
export function createRead(deps: BuildDeps): Handler<typeof builds.readBuild> {
  return async (context, { id }) => {
    const found = await findBuild(deps.db, id);
    if (!found) throw context.fault("not_found", { message: "There is no build with this id." });
    const row = await current(deps, found);
    const { status, steps } = row;
    const earlier = status === "building" ? await earlierSteps(deps.db, row) : [];
    return {
      ...toBuild(row),
      dockerfile: row.dockerfile,
      progress: progressOf({ status, steps, earlier, now: deps.now() }),
    };
  };
}

async function current(deps: BuildDeps, row: BuildRow): Promise<BuildRow> {
  const { kube } = deps;
  if (!kube) return row;
  return reconcileBuild({ ...deps, kube }, row).catch((error: Error) => {
    deps.log.warn(
      { build: row.id, error: error.message },
      "build reconcile failed; showing the stored state",
    );
    return row;
  });
}
