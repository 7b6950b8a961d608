import type { ResourceRef } from "../cluster-api.ts";

const core = (resource: string): ResourceRef => ({ group: "", version: "v1", resource });
const apps = (resource: string): ResourceRef => ({ group: "apps", version: "v1", resource });
const batch = (resource: string): ResourceRef => ({ group: "batch", version: "v1", resource });

export const NAMESPACES = core("namespaces");
export const NODES = core("nodes");
export const PODS = core("pods");
export const SERVICES = core("services");
export const ENDPOINTS = core("endpoints");
export const SECRETS = core("secrets");
export const CONFIG_MAPS = core("configmaps");
export const CLAIMS = core("persistentvolumeclaims");
export const VOLUMES = core("persistentvolumes");
export const STATEFUL_SETS = apps("statefulsets");
export const DEPLOYMENTS = apps("deployments");
export const REPLICA_SETS = apps("replicasets");
export const JOBS = batch("jobs");
export const LEASES: ResourceRef = { group: "coordination.k8s.io", version: "v1", resource: "leases" };
export const STORAGE_CLASSES: ResourceRef = {
  group: "storage.k8s.io",
  version: "v1",
  resource: "storageclasses",
};
