import type { ResourceType, ScalePaths } from "../resource-type.ts";

type Row = {
  kind: string;
  plural: string;
  short?: string[];
  categories?: string[];
  cluster?: boolean;
  status?: boolean;
  scale?: boolean;
  generation?: boolean;
  model?: string;
};

const all = ["all"];
const groups: Record<string, Row[]> = {
  "/v1": [
    { kind: "Namespace", plural: "namespaces", short: ["ns"], cluster: true, status: true },
    { kind: "Pod", plural: "pods", short: ["po"], categories: all, status: true },
    { kind: "Service", plural: "services", short: ["svc"], categories: all, status: true },
    { kind: "Secret", plural: "secrets" },
    { kind: "ConfigMap", plural: "configmaps", short: ["cm"] },
    { kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims", short: ["pvc"], status: true },
    { kind: "PersistentVolume", plural: "persistentvolumes", short: ["pv"], cluster: true, status: true },
    { kind: "Node", plural: "nodes", short: ["no"], cluster: true, status: true },
    { kind: "Event", plural: "events", short: ["ev"], model: "CoreV1Event" },
    { kind: "Endpoints", plural: "endpoints", short: ["ep"] },
    { kind: "ServiceAccount", plural: "serviceaccounts", short: ["sa"] },
  ],
  "apps/v1": [
    {
      kind: "StatefulSet",
      plural: "statefulsets",
      short: ["sts"],
      categories: all,
      status: true,
      scale: true,
      generation: true,
    },
    {
      kind: "Deployment",
      plural: "deployments",
      short: ["deploy"],
      categories: all,
      status: true,
      scale: true,
      generation: true,
    },
    {
      kind: "ReplicaSet",
      plural: "replicasets",
      short: ["rs"],
      categories: all,
      status: true,
      scale: true,
      generation: true,
    },
  ],
  "batch/v1": [{ kind: "Job", plural: "jobs", categories: all, status: true, generation: true }],
  "coordination.k8s.io/v1": [{ kind: "Lease", plural: "leases" }],
  "networking.k8s.io/v1": [
    { kind: "NetworkPolicy", plural: "networkpolicies", short: ["netpol"], generation: true },
  ],
  "rbac.authorization.k8s.io/v1": [
    { kind: "Role", plural: "roles" },
    { kind: "RoleBinding", plural: "rolebindings" },
    { kind: "ClusterRole", plural: "clusterroles", cluster: true },
    { kind: "ClusterRoleBinding", plural: "clusterrolebindings", cluster: true },
  ],
  "storage.k8s.io/v1": [{ kind: "StorageClass", plural: "storageclasses", short: ["sc"], cluster: true }],
  "apiextensions.k8s.io/v1": [
    {
      kind: "CustomResourceDefinition",
      plural: "customresourcedefinitions",
      short: ["crd", "crds"],
      cluster: true,
      status: true,
      generation: true,
      model: "",
    },
  ],
};

const builtinScale: ScalePaths = { replicas: ["spec", "replicas"], statusReplicas: ["status", "replicas"] };

function toType(groupVersion: string, row: Row): ResourceType {
  const slash = groupVersion.indexOf("/");
  const group = groupVersion.slice(0, slash);
  const model = row.model ?? `V1${row.kind}`;
  return {
    group,
    version: groupVersion.slice(slash + 1),
    kind: row.kind,
    listKind: `${row.kind}List`,
    plural: row.plural,
    singular: row.kind.toLowerCase(),
    shortNames: row.short ?? [],
    categories: row.categories ?? [],
    namespaced: row.cluster !== true,
    status: row.status === true,
    generation: row.generation === true,
    storageKey: `${group}/${row.plural}`,
    ...(model ? { model } : {}),
    ...(row.scale ? { scale: builtinScale } : {}),
  };
}

/** The kinds that the server knows without a CRD. */
export const builtinTypes: readonly ResourceType[] = Object.entries(groups).flatMap(([version, rows]) =>
  rows.map((row) => toType(version, row)),
);
