// The kinds that svc uses, with the fields it uses. Times are RFC 3339 strings: these are JSON objects, not the classes of
// the generated client.

import type {
  V1JobSpec,
  V1NodeSpec,
  V1PersistentVolumeClaimSpec,
  V1PodSpec,
  V1ServiceSpec,
  V1StatefulSetSpec,
} from "@kubernetes/client-node";

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

export type ObjectMeta = {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  generateName?: string;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  /** Seconds between the request to delete and `deletionTimestamp`. */
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown;
};

/** Any object; everything from the API server has `metadata`. */
export type KubeObject = { apiVersion: string; kind: string; metadata: ObjectMeta };

type Condition = { type: string; status: string; reason?: string; message?: string };

type TerminatedState = {
  exitCode: number;
  reason?: string;
  message?: string;
  startedAt?: string;
  finishedAt?: string;
  containerID?: string;
};

export type ContainerStatus = {
  name: string;
  /** What the node ran, with its digest where it has one. */
  imageID?: string;
  restartCount: number;
  state?: {
    waiting?: { reason?: string; message?: string };
    running?: { startedAt?: string };
    terminated?: TerminatedState;
  };
  lastState?: { terminated?: TerminatedState };
};

export type Pod = KubeObject & {
  spec?: V1PodSpec;
  status?: {
    phase?: string;
    startTime?: string;
    podIP?: string;
    reason?: string;
    message?: string;
    conditions?: Condition[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
};
export type Service = KubeObject & { spec?: V1ServiceSpec };
export type Secret = KubeObject & { type?: string; data?: Record<string, string> };
export type PersistentVolumeClaim = KubeObject & {
  spec?: V1PersistentVolumeClaimSpec;
  status?: { phase?: string };
};
export type StatefulSet = KubeObject & {
  spec: V1StatefulSetSpec;
  status?: {
    replicas?: number;
    readyReplicas?: number;
    observedGeneration?: number;
    currentRevision?: string;
    updateRevision?: string;
  };
};
export type Job = KubeObject & {
  spec?: V1JobSpec;
  status?: { active?: number; succeeded?: number; failed?: number; conditions?: Condition[] };
};
export type Node = KubeObject & {
  spec?: V1NodeSpec;
  status?: {
    allocatable?: Record<string, string>;
    capacity?: Record<string, string>;
    conditions?: Condition[];
    addresses?: { type: string; address: string }[];
    nodeInfo?: { architecture?: string; kubeletVersion?: string };
  };
};
export type Lease = KubeObject & {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
};
/** What the metrics API last measured of a pod: quantities of `cpu` and `memory` for each container. */
export type PodMetrics = KubeObject & {
  timestamp?: string;
  window?: string;
  containers?: { name: string; usage?: Record<string, string> }[];
};
type CoreEvent = KubeObject & {
  type: "Normal" | "Warning";
  reason: string;
  message: string;
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  involvedObject: Record<string, string>;
  source: { component: string };
};
export type CustomResourceDefinition = KubeObject & {
  spec: Record<string, unknown>;
  status?: { conditions?: Condition[] };
};

/** Where a kind lives in the API; `group` is empty for core/v1. The type parameter is what comes back. */
export type Resource<T extends KubeObject> = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set; only carries the type. */
  readonly object?: T;
};

/** Describes a kind that is not built in, for example that of a CRD. */
export function resource<T extends KubeObject>(about: Omit<Resource<T>, "object">): Resource<T> {
  return about;
}

const core = <T extends KubeObject>(plural: string, kind: string, namespaced = true): Resource<T> => ({
  group: "",
  version: "v1",
  plural,
  kind,
  namespaced,
});

/** The built-in kinds that svc uses. */
export const resources = {
  pods: core<Pod>("pods", "Pod"),
  services: core<Service>("services", "Service"),
  secrets: core<Secret>("secrets", "Secret"),
  claims: core<PersistentVolumeClaim>("persistentvolumeclaims", "PersistentVolumeClaim"),
  events: core<CoreEvent>("events", "Event"),
  nodes: core<Node>("nodes", "Node", false),
  namespaces: core<KubeObject>("namespaces", "Namespace", false),
  statefulSets: resource<StatefulSet>({
    group: "apps",
    version: "v1",
    plural: "statefulsets",
    kind: "StatefulSet",
    namespaced: true,
  }),
  jobs: resource<Job>({ group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true }),
  leases: resource<Lease>({
    group: "coordination.k8s.io",
    version: "v1",
    plural: "leases",
    kind: "Lease",
    namespaced: true,
  }),
  /** Only where the cluster has a metrics server; elsewhere a request is 404 or 503. */
  podMetrics: resource<PodMetrics>({
    group: "metrics.k8s.io",
    version: "v1beta1",
    plural: "pods",
    kind: "PodMetrics",
    namespaced: true,
  }),
  customResourceDefinitions: resource<CustomResourceDefinition>({
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
  }),
} as const;

/** One object: its name and, for a namespaced kind, its namespace. */
export type Target = { readonly name: string; readonly namespace?: string };

/** `apiVersion` of a kind's objects. */
export function apiVersionOf({ group, version }: Resource<KubeObject>): string {
  return group === "" ? version : `${group}/${version}`;
}

/** REST path of a kind's collection, or of one object when it has a name. */
export function pathOf(about: Resource<KubeObject>, target: { name?: string; namespace?: string }): string {
  const root = about.group === "" ? `/api/${about.version}` : `/apis/${about.group}/${about.version}`;
  const inside =
    about.namespaced && target.namespace !== undefined
      ? `/namespaces/${encodeURIComponent(target.namespace)}`
      : "";
  const item = target.name === undefined ? "" : `/${encodeURIComponent(target.name)}`;
  return `${root}${inside}/${about.plural}${item}`;
}
