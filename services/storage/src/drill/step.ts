// One pass over every drill that has not ended: observe, decide, act.

import { isKubeError, resources } from "@svc/kube";
import { isFault } from "@svc/proto";
import { type ClusterDeps, inNamespace, type StorageDeps } from "../deps.ts";
import { createJob, ignoreConflict } from "../job/begin.ts";
import { findPinOf } from "../job/placement.ts";
import { restoreJobSpec } from "../restore/job-spec.ts";
import { decideDrill, type Plan } from "./decide.ts";
import { type Drill, hasEnded, scratchName } from "./drill.ts";
import { drillLabel, scratchClaim, scratchPod } from "./objects.ts";
import { observeDrill } from "./observe.ts";
import { listUnderWay, saveDrill } from "./store.ts";
import { removeScratch } from "./sweep.ts";

/** Returns whether there were any. */
export async function stepDrills(deps: StorageDeps, signal: AbortSignal): Promise<boolean> {
  const underWay = await listUnderWay(deps.db);
  for (const drill of underWay) {
    if (signal.aborted) break;
    const next = await stepDrill(deps, drill);
    if (!next) continue;
    const before = drill.state;
    if (!hasEnded(next)) {
      await saveDrill(deps.db, next, { before });
      continue;
    }
    await removeScratch(deps, next.id);
    if (!(await saveDrill(deps.db, next, { before, finishedAt: new Date(deps.now()) }))) continue;
    deps.log.info({ drill: next.id, server: next.server_name, state: next.state }, "drill ended");
  }
  return underWay.length > 0;
}

/** The drill as it is after the step; undefined while it waits. */
async function stepDrill(deps: StorageDeps, drill: Drill): Promise<Drill | undefined> {
  const { drill_limit: drillMs, drill_boot: bootMs } = deps.settings.storage;
  try {
    const plan = decideDrill(await observeDrill(deps, drill), { drillMs, bootMs });
    await actOnDrill(deps, drill, plan);
    if (plan.action === "boot") return { ...drill, state: "booting" };
    if (plan.action === "pass") return { ...drill, state: "passed", ...plan.result };
    if (plan.action !== "fail") return undefined;
    return { ...drill, state: "failed", code: plan.code, message: plan.message };
  } catch (error) {
    // A dependency that is down now may be back at the next pass.
    if ((isFault(error) && error.fault === "unavailable") || isKubeError(error, 409)) return undefined;
    deps.log.warn({ error: (error as Error).message }, "drill failed");
    return { ...drill, state: "failed", code: "drill_failed", message: (error as Error).message };
  }
}

async function actOnDrill(deps: ClusterDeps, drill: Drill, plan: Plan): Promise<void> {
  const place = inNamespace(deps);
  if (plan.action === "start-server") {
    const pin = await findPinOf(deps, scratchName(drill));
    await ignoreConflict(deps.kube.create(resources.pods, scratchPod(drill, plan.set, { ...place, pin })));
  }
  if (plan.action !== "start-restore") return;
  await ignoreConflict(deps.kube.create(resources.claims, scratchClaim(drill, plan.worldVolume, place)));
  const name = scratchName(drill);
  const row = { job: name, server_name: name, only_paths: null };
  const spec = restoreJobSpec(deps, row, {
    backup: plan.backup,
    world: { volume_claim: name },
    compare: true,
  });
  // Not a Job that locks a world: the scratch volume belongs to no server.
  await createJob(deps, { ...spec, manager: "svc-verify", labels: { [drillLabel]: drill.id } });
}
