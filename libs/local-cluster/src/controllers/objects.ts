// The fields of Kubernetes objects that the controllers and the node agents read or write; others are kept unchanged.
import type { KubeObject, ObjectMeta, OwnerReference } from "../cluster-api.ts";

export type Condition = {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  lastProbeTime?: string;
};

export type EnvSource = {
  fieldRef?: { fieldPath: string };
  secretKeyRef?: { name: string; key: string; optional?: boolean };
  configMapKeyRef?: { name: string; key: string; optional?: boolean };
};

type EnvVar = { name: string; value?: string; valueFrom?: EnvSource };

type EnvFrom = {
  prefix?: string;
  secretRef?: { name: string; optional?: boolean };
  configMapRef?: { name: string; optional?: boolean };
};

type VolumeMount = { name: string; mountPath: string; subPath?: string; readOnly?: boolean };

export type ProbeHandler = {
  tcpSocket?: { port: number | string; host?: string };
  httpGet?: {
    port: number | string;
    path?: string;
    host?: string;
    scheme?: string;
    httpHeaders?: { name: string; value: string }[];
  };
  exec?: { command?: string[] };
};

export type Probe = ProbeHandler & {
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  failureThreshold?: number;
  successThreshold?: number;
};

export type Container = {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  env?: EnvVar[];
  envFrom?: EnvFrom[];
  ports?: { name?: string; containerPort: number }[];
  volumeMounts?: VolumeMount[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: { preStop?: ProbeHandler & { sleep?: { seconds: number } } };
  terminationMessagePolicy?: string;
};

export type KeyToPath = { key: string; path: string; mode?: number };
export type DownwardItem = { path: string; fieldRef?: { fieldPath: string } };
export type ProjectedSource = {
  secret?: { name: string; items?: KeyToPath[]; optional?: boolean };
  configMap?: { name: string; items?: KeyToPath[]; optional?: boolean };
  downwardAPI?: { items?: DownwardItem[] };
  serviceAccountToken?: { path: string };
};

export type Volume = {
  name: string;
  persistentVolumeClaim?: { claimName: string; readOnly?: boolean };
  secret?: { secretName: string; items?: KeyToPath[]; optional?: boolean; defaultMode?: number };
  configMap?: { name: string; items?: KeyToPath[]; optional?: boolean; defaultMode?: number };
  emptyDir?: Record<string, unknown>;
  downwardAPI?: { items?: DownwardItem[] };
  projected?: { sources?: ProjectedSource[] };
};

export type NodeSelectorTerm = {
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
  /** Of fields, of which Kubernetes has one: `metadata.name`. */
  matchFields?: { key: string; operator: string; values?: string[] }[];
};

export type PodSpec = {
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  restartPolicy?: "Always" | "OnFailure" | "Never";
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  initContainers?: Container[];
  containers: Container[];
  volumes?: Volume[];
  hostname?: string;
  subdomain?: string;
  serviceAccountName?: string;
  tolerations?: { key?: string; operator?: string; value?: string; effect?: string }[];
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: NodeSelectorTerm[] };
    };
  };
};

type ContainerState = {
  waiting?: { reason: string; message?: string };
  running?: { startedAt: string };
  terminated?: {
    exitCode: number;
    reason: string;
    message?: string;
    startedAt: string;
    finishedAt: string;
    containerID?: string;
  };
};

export type ContainerStatus = {
  name: string;
  image: string;
  imageID: string;
  containerID?: string;
  restartCount: number;
  ready: boolean;
  started: boolean;
  state: ContainerState;
  lastState: ContainerState;
};

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed";

export type PodStatus = {
  phase?: PodPhase;
  reason?: string;
  message?: string;
  conditions?: Condition[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
  podIP?: string;
  podIPs?: { ip: string }[];
  hostIP?: string;
  startTime?: string;
  qosClass?: string;
};

export type Pod = KubeObject & { spec: PodSpec; status?: PodStatus };
export type PodTemplate = { metadata?: Partial<ObjectMeta>; spec: PodSpec };
export type Selector = {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
};

/** The key of an object in queues and caches: `namespace/name`, or the bare name of a cluster-wide object. */
export function keyOf(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Parses a key of `keyOf`. */
export function splitKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) };
}

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

export function ownerReference(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

export function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** A pod that will never run again. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
}
