// A volume and claim for the archive folder, for world Jobs of a stack on one machine.

import { mkdirSync } from "node:fs";
import { connectKube, isKubeError, type KubeObject, resource, resources } from "@svc/kube";

const volumes = resource<KubeObject & { spec: Record<string, unknown> }>({
  group: "",
  version: "v1",
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});

const name = "svc-archive";
const namespace = "minecraft";
// Not enforced: the folder is as large as its disk.
const storage = "1Ti";

/** Creates volume and claim once; returns those created. On a cluster of several machines the operator provides the claim. */
export async function ensureArchiveVolume(kubeconfigFile: string, folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kube = connectKube({ kubeconfigFile });
  const shared = { accessModes: ["ReadWriteMany"], storageClassName: "" };
  try {
    const isNew = await once(
      kube.create(volumes, {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name },
        spec: {
          ...shared,
          capacity: { storage },
          persistentVolumeReclaimPolicy: "Retain",
          claimRef: { namespace, name },
          hostPath: { path: folder },
        },
      }),
    );
    const isClaimNew = await once(
      kube.create(resources.claims, {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name, namespace },
        spec: { ...shared, volumeName: name, resources: { requests: { storage } } },
      }),
    );
    const made = { PersistentVolume: isNew, PersistentVolumeClaim: isClaimNew };
    return Object.entries(made).flatMap(([kind, is]) => (is ? [`${kind} ${name}`] : []));
  } finally {
    kube.close();
  }
}

async function once(made: Promise<unknown>): Promise<boolean> {
  try {
    await made;
    return true;
  } catch (error) {
    if (isKubeError(error, 409)) return false;
    throw error;
  }
}
