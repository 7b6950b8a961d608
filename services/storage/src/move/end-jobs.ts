import { isKubeError, resources } from "@svc/kube";
import type { MoveRow } from "../database/world-migrations.ts";
import { type ClusterDeps, inNamespace } from "../deps.ts";
import { jobNames } from "./job-spec.ts";

/** Deletes the Jobs of a move; true once none of their pods is left, so that nothing accesses the volumes any more. */
export async function endJobs(deps: ClusterDeps, row: MoveRow): Promise<boolean> {
  const names = jobNames(row);
  for (const name of names) await removeJob(deps, name);
  const labelSelector = `job-name in (${names.join(",")})`;
  const { items } = await deps.kube.list(resources.pods, { ...inNamespace(deps), labelSelector });
  return items.length === 0;
}

async function removeJob(deps: ClusterDeps, name: string): Promise<void> {
  await deps.kube
    .remove(resources.jobs, { name, ...inNamespace(deps) }, { propagationPolicy: "Background" })
    .catch((error: unknown) => {
      if (!isKubeError(error, 404)) throw error;
    });
}
