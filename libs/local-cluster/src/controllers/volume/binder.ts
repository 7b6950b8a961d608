import { parseQuantity } from "@svc/kube/quantity";
import type { Controller, ControllerDeps } from "../context.ts";
import { controllerQueue, tolerate } from "../context.ts";
import type { Informer } from "../informer.ts";
import type { Pod } from "../objects.ts";
import { isTerminating, keyOf, splitKey } from "../objects.ts";
import { CLAIMS, VOLUMES } from "../refs.ts";
import { writeStatus } from "../status.ts";
import type { Claim, PersistentVolume } from "./objects.ts";
import { CLAIM_PROTECTION, claimNamesOf, usesClaim } from "./objects.ts";
import { isAbandoned, provision, reclaim } from "./provisioner.ts";

type BinderSources = {
  pods: Informer<Pod>;
  claims: Informer<Claim>;
  volumes: Informer<PersistentVolume>;
};

type Wiring = ControllerDeps & BinderSources & { volumesDir: string };

function volumeOf({ volumes }: Wiring, claim: Claim): PersistentVolume | undefined {
  if (claim.spec.volumeName !== undefined) return volumes.get(claim.spec.volumeName);
  return volumes.get(`pvc-${claim.metadata.uid}`);
}

/** Whether the volume is unreserved or reserved for the claim, and as large as the claim requests. */
function isFor({ spec }: PersistentVolume, claim: Claim): boolean {
  const { name, namespace = "default", uid } = claim.metadata;
  const holder = spec.claimRef;
  if (holder !== undefined && (holder.name !== name || holder.namespace !== namespace)) return false;
  // Another claim of that name left its data there.
  if ((holder?.uid ?? "") !== "" && holder?.uid !== uid) return false;
  const bytesOf = (text: string | undefined) => parseQuantity(text ?? "0") ?? 0n;
  return bytesOf(spec.capacity?.["storage"]) >= bytesOf(claim.spec.resources?.requests?.storage);
}

function bind({ api }: Wiring, claim: Claim, volume: PersistentVolume): void {
  const { name, namespace = "default", uid = "" } = claim.metadata;
  const holder = volume.spec.claimRef;
  if (holder === undefined || (holder.uid ?? "") === "") {
    const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid };
    api.mergePatch(VOLUMES, { name: volume.metadata.name }, { spec: { claimRef } });
  }
  if (claim.spec.volumeName === undefined) {
    const annotations = {
      "pv.kubernetes.io/bind-completed": "yes",
      "pv.kubernetes.io/bound-by-controller": "yes",
    };
    api.mergePatch(
      CLAIMS,
      { name, namespace },
      { metadata: { annotations }, spec: { volumeName: volume.metadata.name } },
    );
  }
  writeStatus(api, VOLUMES, { object: volume, status: { phase: "Bound" } });
  const status = { phase: "Bound", accessModes: volume.spec.accessModes, capacity: volume.spec.capacity };
  writeStatus(api, CLAIMS, { object: claim, status });
}

/** A claim in use is kept by a finalizer; it is removed with the last pod that mounts it. */
function protect({ api, pods }: Wiring, claim: Claim): void {
  const { name, namespace = "default", finalizers = [] } = claim.metadata;
  const held = finalizers.includes(CLAIM_PROTECTION);
  if (held === !isTerminating(claim)) return;
  if (held && [...pods.inNamespace(namespace)].some((pod) => usesClaim(pod, name))) return;
  const rest = finalizers.filter((one) => one !== CLAIM_PROTECTION);
  const wanted = held ? rest : [...rest, CLAIM_PROTECTION];
  const resourceVersion = claim.metadata.resourceVersion ?? "";
  tolerate([404], () =>
    api.mergePatch(CLAIMS, { name, namespace }, { metadata: { finalizers: wanted, resourceVersion } }),
  );
}

async function reconcileClaim(wiring: Wiring, key: string): Promise<void> {
  const claim = wiring.claims.get(key);
  if (claim === undefined) return;
  protect(wiring, claim);
  if (isTerminating(claim) || claim.status?.phase === "Bound") return;
  if (claim.spec.volumeName === undefined) await provision(wiring, claim);
  const volume = volumeOf(wiring, claim);
  if (volume !== undefined && isFor(volume, claim)) bind(wiring, claim, volume);
  else if (claim.status?.phase === undefined) {
    writeStatus(wiring.api, CLAIMS, { object: claim, status: { phase: "Pending" } });
  }
}

/** Reclaims a volume whose claim is gone: `Delete` removes the directory of volumes created here, else it is Released. */
async function reconcileVolume(wiring: Wiring, key: string): Promise<void> {
  const volume = wiring.volumes.get(key);
  if (volume === undefined || !isAbandoned(wiring, volume)) return;
  if (volume.spec.persistentVolumeReclaimPolicy === "Delete") await reclaim(wiring, volume);
  else writeStatus(wiring.api, VOLUMES, { object: volume, status: { phase: "Released" } });
}

/** Binds claims to directories under `volumesDir`, once the scheduler has chosen a node for their first pod. */
export function startBinder(deps: ControllerDeps, sources: BinderSources, volumesDir: string): Controller {
  const wiring = { ...deps, ...sources, volumesDir };
  const claimQueue = controllerQueue("PersistentVolumeClaim", deps, async (key) => {
    await reconcileClaim(wiring, key);
    return undefined;
  });
  const volumeQueue = controllerQueue("PersistentVolume", deps, async (key) => {
    await reconcileVolume(wiring, key);
    return undefined;
  });
  sources.claims.onChange((claim, _previous, deleted) => {
    if (!deleted) claimQueue.add(keyOf(claim));
    else if (claim.spec.volumeName !== undefined) volumeQueue.add(claim.spec.volumeName);
    else volumeQueue.add(`pvc-${claim.metadata.uid}`);
  });
  sources.volumes.onChange((volume, _previous, deleted) => {
    const holder = volume.spec.claimRef;
    if (holder !== undefined) claimQueue.add(`${holder.namespace}/${holder.name}`);
    if (!deleted) volumeQueue.add(keyOf(volume));
  });
  sources.pods.onChange((pod) => {
    const { namespace } = splitKey(keyOf(pod));
    for (const name of claimNamesOf(pod)) claimQueue.add(`${namespace}/${name}`);
  });
  return {
    close: async () => {
      await Promise.all([claimQueue.close(), volumeQueue.close()]);
    },
  };
}
