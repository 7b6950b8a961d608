import type { KubeObject, ObjectMeta } from "../../cluster-api.ts";
import type { NodeSelectorTerm, Pod } from "../objects.ts";
import { isFinished } from "../objects.ts";

export type Claim = KubeObject & {
  spec: {
    volumeName?: string;
    storageClassName?: string;
    accessModes?: string[];
    volumeMode?: string;
    resources?: { requests?: { storage?: string } };
  };
  status?: { phase?: string; capacity?: Record<string, string> };
};

export type PersistentVolume = KubeObject & {
  metadata: ObjectMeta;
  spec: {
    capacity?: Record<string, string>;
    accessModes?: string[];
    persistentVolumeReclaimPolicy?: string;
    storageClassName?: string;
    claimRef?: { namespace: string; name: string; uid?: string };
    local?: { path: string };
    hostPath?: { path: string };
    nodeAffinity?: { required?: { nodeSelectorTerms: NodeSelectorTerm[] } };
  };
  status?: { phase?: string };
};

/** The scheduler writes the node of the first pod here; the volume is created for that node. */
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";
export const PROVISIONER = "local-directory";
export const CLASS_NAME = "local";
export const CLAIM_PROTECTION = "kubernetes.io/pvc-protection";
export const HOSTNAME_LABEL = "kubernetes.io/hostname";

export function claimNamesOf(pod: Pod): string[] {
  return (pod.spec.volumes ?? []).flatMap((volume) =>
    volume.persistentVolumeClaim === undefined ? [] : [volume.persistentVolumeClaim.claimName],
  );
}

/** True while the pod may still use the claim; a finished pod no longer does. */
export function usesClaim(pod: Pod, claimName: string): boolean {
  return !isFinished(pod) && claimNamesOf(pod).includes(claimName);
}

export function directoryOf(volume: PersistentVolume | undefined): string | undefined {
  return volume?.spec.local?.path ?? volume?.spec.hostPath?.path;
}
