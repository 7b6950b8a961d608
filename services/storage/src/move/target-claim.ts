import type { PersistentVolumeClaim } from "@svc/kube";
import { label } from "../job/names.ts";

/** A new claim like another one; where its volume comes to lie is decided by the first pod that uses it. */
export function claimLike(
  source: PersistentVolumeClaim,
  name: string,
  server: string,
): PersistentVolumeClaim {
  const { accessModes, resources: size, storageClassName, volumeMode } = source.spec ?? {};
  const { namespace } = source.metadata;
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, ...(namespace && { namespace }), labels: { [label.server]: server } },
    spec: {
      ...(accessModes && { accessModes }),
      ...(size && { resources: size }),
      ...(storageClassName !== undefined && { storageClassName }),
      ...(volumeMode !== undefined && { volumeMode }),
    },
  };
}
