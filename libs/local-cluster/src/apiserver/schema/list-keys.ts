// How lists of the built-in models merge. Facts of the published API: `merge` is the key of a strategic merge
// patch ("" for a list of scalars that merges), `apply` the keys that name an item in server-side apply.

/** How one list field merges. */
export type ListRule = { merge?: string; apply?: string[] };

const byName: ListRule = { merge: "name", apply: ["name"] };
const byType: ListRule = { merge: "type", apply: ["type"] };
const ports: ListRule = { merge: "containerPort", apply: ["containerPort", "protocol"] };

const container: Record<string, ListRule> = {
  env: byName,
  ports,
  volumeDevices: { merge: "devicePath", apply: ["devicePath"] },
  volumeMounts: { merge: "mountPath", apply: ["mountPath"] },
};

const conditionOwners = [
  "V1DeploymentStatus",
  "V1JobStatus",
  "V1NamespaceStatus",
  "V1PersistentVolumeClaimStatus",
  "V1PodDisruptionBudgetStatus",
  "V1PodStatus",
  "V1ReplicaSetStatus",
  "V1ServiceStatus",
  "V1StatefulSetStatus",
];

const rules: Record<string, Record<string, ListRule>> = {
  V1Container: container,
  V1EphemeralContainer: container,
  V1PodSpec: {
    containers: byName,
    initContainers: byName,
    ephemeralContainers: byName,
    imagePullSecrets: byName,
    volumes: byName,
    hostAliases: { merge: "ip", apply: ["ip"] },
    topologySpreadConstraints: { merge: "topologyKey", apply: ["topologyKey", "whenUnsatisfiable"] },
  },
  V1ServiceSpec: { ports: { merge: "port", apply: ["port", "protocol"] } },
  V1ServiceAccount: { secrets: byName },
  V1NodeSpec: { podCIDRs: { merge: "" } },
  V1NodeStatus: { addresses: byType, conditions: byType },
  V1ObjectMeta: { finalizers: { merge: "", apply: [] }, ownerReferences: { merge: "uid", apply: ["uid"] } },
  ...Object.fromEntries(conditionOwners.map((owner) => [owner, { conditions: byType }])),
};

/** The rule of a list field, undefined for a list that is replaced as a whole. */
export function listRule(model: string, field: string): ListRule | undefined {
  const fields = rules[model];
  if (model === "V1PodStatus" && field === "podIPs") return { merge: "ip", apply: ["ip"] };
  return fields && Object.hasOwn(fields, field) ? fields[field] : undefined;
}
