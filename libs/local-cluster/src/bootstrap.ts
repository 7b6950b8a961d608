import type { KubeObject } from "./cluster-api.ts";
import { CLASS_NAME, PROVISIONER } from "./controllers/volume/objects.ts";

/** The class of volumes that are folders of a node, made when their first pod has one. */
export const STORAGE_CLASS: KubeObject = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: CLASS_NAME, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
  provisioner: PROVISIONER,
  reclaimPolicy: "Delete",
  volumeBindingMode: "WaitForFirstConsumer",
};
