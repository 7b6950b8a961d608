// The claim of a world, and its end.

import { setTimeout as delay } from "node:timers/promises";
import { isKubeError, type PersistentVolumeClaim, resources } from "@svc/kube";
import { placeOf, type StorageDeps } from "../job/deps.ts";
import { label } from "../job/names.ts";

export type Claim = { name: string; uid: string; object: PersistentVolumeClaim };

/** Undefined when there is none, also when its deletion has begun. */
export async function findClaim(deps: StorageDeps, name: string): Promise<Claim | undefined> {
  const object = await deps.kube.find(resources.claims, { name, ...placeOf(deps) });
  if (!object || object.metadata.deletionTimestamp !== undefined) return undefined;
  return { name, uid: object.metadata.uid ?? "", object };
}

/** Deletes this very claim, and waits a while for it to be gone. */
export async function removeClaim(
  deps: StorageDeps,
  { name, uid }: Pick<Claim, "name" | "uid">,
): Promise<void> {
  const target = { name, ...placeOf(deps) };
  await deps.kube.remove(resources.claims, target, { uid }).catch((error: unknown) => {
    if (!isKubeError(error, 404)) throw error;
  });
  const { reaper_claim_patience, await_interval } = deps.settings.storage;
  const endAt = performance.now() + reaper_claim_patience;
  while (performance.now() < endAt) {
    const left = await deps.kube.find(resources.claims, target);
    if (left?.metadata.uid !== uid) return;
    await delay(await_interval);
  }
}

/**
 * A world that was moved lies in a claim that its server names, and nobody makes that one anew: the next owner would
 * have no world, or the one that was left on the old node.
 */
export async function renewMovedClaim(deps: StorageDeps, server: string, claim: Claim): Promise<void> {
  if (claim.name === `world-${server}-0`) return;
  const { accessModes, resources: size, storageClassName } = claim.object.spec ?? {};
  const fresh: PersistentVolumeClaim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: claim.name, ...placeOf(deps), labels: { [label.server]: server } },
    spec: {
      ...(accessModes && { accessModes }),
      ...(size && { resources: size }),
      ...(storageClassName !== undefined && { storageClassName }),
    },
  };
  await deps.kube.create(resources.claims, fresh).catch((error: unknown) => {
    if (!isKubeError(error, 409)) throw error;
  });
}
