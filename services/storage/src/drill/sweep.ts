// Deletes what drills created in the cluster, also of drills that were forgotten, or that another replica continued for
// a moment after they had ended.

import { isKubeError, type KubeObject, type Resource, resources } from "@svc/kube";
import { type ClusterDeps, inNamespace, type StorageDeps } from "../deps.ts";
import { hasEnded, scratchName } from "./drill.ts";
import { drillLabel } from "./objects.ts";
import { findDrill } from "./store.ts";

const kinds: Resource<KubeObject>[] = [resources.pods, resources.jobs, resources.claims];

export async function removeScratch(deps: ClusterDeps, id: string): Promise<void> {
  const target = { name: scratchName({ id }), ...inNamespace(deps) };
  for (const kind of kinds) {
    await deps.kube.remove(kind, target, { propagationPolicy: "Background" }).catch((error: unknown) => {
      if (!isKubeError(error, 404)) throw error;
    });
  }
}

/** Deletes objects that belong to no drill in progress. A drill is recorded before it creates anything. */
export async function sweepDrills(deps: ClusterDeps & Pick<StorageDeps, "db">): Promise<void> {
  const about = { ...inNamespace(deps), labelSelector: drillLabel };
  const lists = await Promise.all(kinds.map((kind) => deps.kube.list(kind, about)));
  const ids = lists.flatMap(({ items }) =>
    items.flatMap(({ metadata }) => metadata.labels?.[drillLabel] ?? []),
  );
  for (const id of new Set(ids)) {
    const drill = await findDrill(deps.db, id);
    if (!drill || hasEnded(drill)) await removeScratch(deps, id);
  }
}
