import type { Handler } from "@svc/mesh";
import type { builds } from "@svc/proto";
import type { BuildDeps } from "./deps.ts";
import { removeJob } from "./launch.ts";
import { collectLog } from "./log/collect.ts";
import { readObjects } from "./observe.ts";
import { type BuildRow, toBuild } from "./row.ts";
import { auditBuild } from "./start.ts";
import { endedSteps } from "./steps.ts";
import { endBuild, findBuild } from "./store.ts";
import { tell } from "./tell.ts";

/** builds.build.cancel: the row first; a Job that can't be removed now is removed by the reconcile. */
export function createCancel(deps: BuildDeps): Handler<typeof builds.cancelBuild> {
  return async (context, { id }) => {
    const found = await findBuild(deps.db, id);
    if (!found) throw context.fault("not_found", { message: "There is no build with this id." });
    if (found.finished_at || found.sealed_at) throw context.fault("build_finished");
    const log = await logOf(deps, found);
    const ended = await deps.db.transaction().execute(async (trx) => {
      const steps = endedSteps(found.steps, new Date(deps.now()).toISOString());
      const row = await endBuild(trx, id, { status: "cancelled", steps, log });
      if (!row) return undefined;
      await trx.deleteFrom("image_build_documents").where("build_id", "=", id).execute();
      await auditBuild(trx, context, { action: "build.cancel", row });
      await deps.onEnded(trx, row);
      return row;
    });
    if (!ended) throw context.fault("build_finished");
    tell(deps, ended);
    const { kube } = deps;
    if (kube)
      await removeJob({ ...deps, kube }, id).catch((error: Error) =>
        deps.log.warn({ build: id, error: error.message }, "removing the Job of a build failed; retrying"),
      );
    return toBuild(ended);
  };
}

/** The log so far; its Job is removed with the pod. */
async function logOf(deps: BuildDeps, row: BuildRow): Promise<Buffer | undefined> {
  const { kube } = deps;
  if (!kube || row.status !== "building") return undefined;
  try {
    const { pods } = await readObjects({ ...deps, kube }, row.id);
    return await collectLog({ ...deps, kube }, { pod: pods.get(row.id), steps: row.steps });
  } catch (error) {
    deps.log.warn({ build: row.id, error: (error as Error).message }, "reading the log of a build failed");
    return undefined;
  }
}
