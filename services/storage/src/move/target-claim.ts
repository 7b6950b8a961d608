import type { PersistentVolumeClaim } from "@svc/kube";
import { label } from "../job/names.ts";

/** A new claim with the spec of another; its first pod decides on which node the volume is. */
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
