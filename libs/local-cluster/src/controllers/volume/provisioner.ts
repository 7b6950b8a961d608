import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { NodeApi } from "../../cluster-api.ts";
import { removeTree } from "../../remove-tree.ts";
import type { Controller } from "../context.ts";
import { controllerQueue, tolerated } from "../context.ts";
import type { Source } from "../informer.ts";
import { isTerminating, keyOf } from "../objects.ts";
import { VOLUMES } from "../refs.ts";
import type { Claim, PersistentVolume } from "./objects.ts";
import {
  CLASS_NAME,
  directoryOf,
  HOSTNAME_LABEL,
  PROVISIONED_BY,
  PROVISIONER,
  SELECTED_NODE,
} from "./objects.ts";

type ProvisionerDeps = {
  api: NodeApi;
  claims: Source<Claim>;
  volumes: Source<PersistentVolume>;
  volumesDir: string;
};

function volumeFor(claim: Claim, nodeName: string, path: string): PersistentVolume {
  const { name, namespace = "default", uid = "" } = claim.metadata;
  const storage = claim.spec.resources?.requests?.storage ?? "1Gi";
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: `pvc-${uid}`, annotations: { [PROVISIONED_BY]: PROVISIONER } },
    spec: {
      capacity: { storage },
      accessModes: claim.spec.accessModes ?? ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: CLASS_NAME,
      volumeMode: "Filesystem",
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid },
      local: { path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: HOSTNAME_LABEL, operator: "In", values: [nodeName] }] },
          ],
        },
      },
    },
  } as PersistentVolume;
}

/** Creates the directory and the volume of a claim whose first pod has a node. */
export async function provision({ api, volumes, volumesDir }: ProvisionerDeps, claim: Claim): Promise<void> {
  const { name, namespace = "default", uid = "" } = claim.metadata;
  const nodeName = claim.metadata.annotations?.[SELECTED_NODE];
  const className = claim.spec.storageClassName ?? CLASS_NAME;
  if (nodeName === undefined || className !== CLASS_NAME || volumes.get(`pvc-${uid}`) !== undefined) return;
  const path = join(volumesDir, `${namespace}-${name}-${uid.slice(0, 8)}`);
  await mkdir(path, { recursive: true });
  const made = await tolerated([409], () => api.create(VOLUMES, volumeFor(claim, nodeName, path)));
  if (made !== undefined) volumes.assume(made);
}

/** Whether the claim that the volume was made for is gone. */
export function isAbandoned({ claims }: Pick<ProvisionerDeps, "claims">, volume: PersistentVolume): boolean {
  const holder = volume.spec.claimRef;
  // A volume without a uid is reserved for a claim that does not exist yet.
  if (holder === undefined || (holder.uid ?? "") === "") return false;
  return claims.get(`${holder.namespace}/${holder.name}`)?.metadata.uid !== holder.uid;
}

/** Removes an abandoned volume, with its directory when it was created here. */
export async function reclaim({ api, volumesDir }: ProvisionerDeps, volume: PersistentVolume): Promise<void> {
  const path = directoryOf(volume);
  const ours = volume.metadata.annotations?.[PROVISIONED_BY] === PROVISIONER;
  if (ours && path?.startsWith(`${volumesDir}/`)) await removeTree(path);
  await tolerated([404], () => api.delete(VOLUMES, { name: volume.metadata.name }));
}

/** Makes and removes volumes beside an API server whose own controllers bind them. */
export function startProvisioner(deps: ProvisionerDeps & { warn(text: string): void }): Controller {
  const { claims, volumes, volumesDir } = deps;
  const claimQueue = controllerQueue("PersistentVolumeClaim", deps, async (key) => {
    const claim = claims.get(key);
    const isOpen = claim !== undefined && !isTerminating(claim) && claim.spec.volumeName === undefined;
    if (isOpen) await provision(deps, claim);
    return undefined;
  });
  const volumeQueue = controllerQueue("PersistentVolume", deps, async (key) => {
    const volume = volumes.get(key);
    const ours = directoryOf(volume)?.startsWith(`${volumesDir}/`);
    if (volume !== undefined && ours && isAbandoned(deps, volume)) await reclaim(deps, volume);
    return undefined;
  });
  claims.onChange((claim, _previous, deleted) => {
    if (!deleted) claimQueue.add(keyOf(claim));
    else volumeQueue.add(`pvc-${claim.metadata.uid}`);
  });
  volumes.onChange((volume, _previous, deleted) => {
    if (!deleted) volumeQueue.add(keyOf(volume));
  });
  return {
    close: async () => {
      await Promise.all([claimQueue.close(), volumeQueue.close()]);
    },
  };
}
