// A new volume for a world whose own is gone (docs/reference/restore.md#volume).

import { isKubeError, type PersistentVolumeClaim, resources } from "@svc/kube";
import { Fault, type MinecraftServerSpec } from "@svc/proto";
import { lockedServers } from "@svc/world-lock";
import { type ClusterDeps, inNamespace } from "../deps.ts";
import { isOnline, nodeIdentity } from "../volume/node.ts";
import { label } from "./names.ts";
import type { WorldServer } from "./world.ts";

export type ClaimSpec = NonNullable<PersistentVolumeClaim["spec"]>;
type Place = Pick<WorldServer, "name" | "volume_claim">;

/** One that exists already stays as it is. */
export async function createClaim(
  deps: ClusterDeps,
  { name, volume_claim }: Place,
  spec: ClaimSpec,
): Promise<void> {
  const claim: PersistentVolumeClaim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: volume_claim, ...inNamespace(deps), labels: { [label.server]: name } },
    spec,
  };
  await deps.kube.create(resources.claims, claim).catch((error: unknown) => {
    if (!isKubeError(error, 409)) throw error;
  });
}

/** What a server's object says of its volume; undefined when it does not tell the size. */
export async function specFromServer(deps: ClusterDeps, name: string): Promise<ClaimSpec | undefined> {
  return claimSpecOf(await serverSpec(deps, name));
}

function claimSpecOf({ storage }: Partial<MinecraftServerSpec>): ClaimSpec | undefined {
  if (!storage?.size) return undefined;
  return {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: storage.size } },
    ...(storage.storageClassName && { storageClassName: storage.storageClassName }),
  };
}

async function serverSpec(
  { kube, ...deps }: ClusterDeps,
  name: string,
): Promise<Partial<MinecraftServerSpec>> {
  const server = await kube.find(lockedServers, { name, ...inNamespace(deps) });
  return (server?.spec as Partial<MinecraftServerSpec> | undefined) ?? {};
}

/** Whether a world may lie there: a claim that no pod has used yet is bound to no volume. */
export async function hasVolume(deps: ClusterDeps, { volume_claim }: Place): Promise<boolean> {
  const claim = await deps.kube.find(resources.claims, { name: volume_claim, ...inNamespace(deps) });
  return claim?.status?.phase === "Bound" || claim?.metadata.deletionTimestamp !== undefined;
}

/**
 * Makes the claim of a server without a volume; the Job's pod binds it. Throws `no_world_volume` for one whose size nobody
 * knows, and for one that must run on a node that is not there.
 */
export async function makeVolume(deps: ClusterDeps, place: Place): Promise<void> {
  if (await hasVolume(deps, place)) throw new Fault("maintenance_in_progress");
  const server = await serverSpec(deps, place.name);
  const isPlaceable = !server.nodeName || (await isThere(deps, server.nodeName));
  const spec = isPlaceable ? claimSpecOf(server) : undefined;
  if (!spec) throw new Fault("no_world_volume");
  await createClaim(deps, place, spec);
}

async function isThere({ kube }: ClusterDeps, identity: string): Promise<boolean> {
  try {
    const { items } = await kube.list(resources.nodes);
    return items.some((node) => nodeIdentity(node) === identity && isOnline(node));
  } catch (error) {
    // Without the ClusterRole `svc-storage-moves` storage cannot read nodes, and there is only one.
    if (isKubeError(error, 403)) return true;
    throw error;
  }
}
