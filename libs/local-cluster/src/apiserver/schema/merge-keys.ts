// How lists of the built-in models merge in a strategic merge patch: the key that names an item, "" for a list of scalars
// that merges. Facts of the published API.

const container = {
  env: "name",
  ports: "containerPort",
  volumeDevices: "devicePath",
  volumeMounts: "mountPath",
};

const conditionOwners = [
  "V1DeploymentStatus",
  "V1JobStatus",
  "V1NamespaceStatus",
  "V1PersistentVolumeClaimStatus",
  "V1PodStatus",
  "V1ReplicaSetStatus",
  "V1ServiceStatus",
  "V1StatefulSetStatus",
];

const mergeKeys: Record<string, Record<string, string>> = {
  ...Object.fromEntries(conditionOwners.map((owner) => [owner, { conditions: "type" }])),
  V1Container: container,
  V1EphemeralContainer: container,
  V1PodSpec: {
    containers: "name",
    initContainers: "name",
    ephemeralContainers: "name",
    imagePullSecrets: "name",
    volumes: "name",
    hostAliases: "ip",
    topologySpreadConstraints: "topologyKey",
  },
  V1PodStatus: { conditions: "type", podIPs: "ip" },
  V1ServiceSpec: { ports: "port" },
  V1ServiceAccount: { secrets: "name" },
  V1NodeSpec: { podCIDRs: "" },
  V1NodeStatus: { addresses: "type", conditions: "type" },
  V1ObjectMeta: { finalizers: "", ownerReferences: "uid" },
};

/** The merge key of a list field, undefined for a list that is replaced as a whole. */
export function mergeKeyOf(model: string, field: string): string | undefined {
  const fields = mergeKeys[model];
  return fields && Object.hasOwn(fields, field) ? fields[field] : undefined;
}
