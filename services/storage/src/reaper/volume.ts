// The volume claim of a world, and its deletion.

import { isKubeError, type PersistentVolumeClaim, resources } from "@svc/kube";
import { type ClusterDeps, inNamespace } from "../deps.ts";
import { label } from "../job/names.ts";
import { poll } from "../job/poll.ts";
import { type ClaimSpec, createClaim, specFromServer } from "../job/world-claim.ts";
import type { WorldServer } from "./decide.ts";

export type Claim = { name: string; uid: string; object: PersistentVolumeClaim };

/** Undefined when there is none, or when it is being deleted. */
export async function findClaim(deps: ClusterDeps, name: string): Promise<Claim | undefined> {
  const object = await deps.kube.find(resources.claims, { name, ...inNamespace(deps) });
  if (!object || object.metadata.deletionTimestamp !== undefined) return undefined;
  return { name, uid: object.metadata.uid ?? "", object };
}

/** Names of all claims of a server, including those that a move left behind. */
export async function findClaimsOf(
  deps: ClusterDeps,
  { name, volume_claim }: Pick<WorldServer, "name" | "volume_claim">,
): Promise<string[]> {
  const labelSelector = `${label.server}=${name}`;
  const [{ items }, own] = await Promise.all([
    deps.kube.list(resources.claims, { ...inNamespace(deps), labelSelector }),
    findClaim(deps, volume_claim),
  ]);
  return [...new Set([...(own ? [own.name] : []), ...items.map(({ metadata }) => metadata.name)])];
}

/** Deletes exactly this claim, and waits a while until it is gone. */
export async function removeClaim(
  deps: ClusterDeps,
  { name, uid }: Pick<Claim, "name" | "uid">,
): Promise<void> {
  const target = { name, ...inNamespace(deps) };
  await deps.kube.remove(resources.claims, target, { uid }).catch((error: unknown) => {
    if (!isKubeError(error, 404)) throw error;
  });
  const { reaper_claim_patience, await_interval: everyMs } = deps.settings.storage;
  const isGone = async () => {
    const left = await deps.kube.find(resources.claims, target);
    if (left?.metadata.uid !== uid) return true;
    await removeEndedPods(deps, name);
    return undefined;
  };
  await poll(isGone, { everyMs, endAt: performance.now() + reaper_claim_patience });
}

/** The cluster keeps a claim as long as a pod uses it, even one that has ended. */
async function removeEndedPods({ kube, ...deps }: ClusterDeps, claim: string): Promise<void> {
  const labelSelector = `${label.component}=world-job`;
  const { items } = await kube.list(resources.pods, { ...inNamespace(deps), labelSelector });
  for (const { metadata, spec, status } of items) {
    const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
    const isIts = spec?.volumes?.some(({ persistentVolumeClaim: own }) => own?.claimName === claim);
    if (!isOver || !isIts) continue;
    const { name, uid = "" } = metadata;
    await kube.remove(resources.pods, { name, ...inNamespace(deps) }, { uid }).catch((error: unknown) => {
      if (!isKubeError(error, 404) && !isKubeError(error, 409)) throw error;
    });
  }
}

/**
 * A moved world is in a claim that its server names, and nothing else recreates it: the next owner would have no world, or
 * the one left on the old node. The new claim copies the old one or, when that is gone, the server's spec; false when the
 * size is unknown.
 */
export async function recreateMovedClaim(
  deps: ClusterDeps,
  { name, volume_claim }: Pick<WorldServer, "name" | "volume_claim">,
  old?: PersistentVolumeClaim,
): Promise<boolean> {
  if (volume_claim === `world-${name}-0`) return true;
  const spec = old ? copySpec(old.spec) : await specFromServer(deps, name);
  if (!spec) return false;
  await createClaim(deps, { name, volume_claim }, spec);
  return true;
}

function copySpec({ accessModes, resources: size, storageClassName, volumeMode }: ClaimSpec = {}): ClaimSpec {
  return {
    ...(accessModes && { accessModes }),
    ...(size && { resources: size }),
    ...(storageClassName !== undefined && { storageClassName }),
    ...(volumeMode !== undefined && { volumeMode }),
  };
}
