// Kubernetes client: typed calls, informers, leader election, work queues and events (docs/reference/server-resource.md#kind).

export {
  type CallOptions,
  type Change,
  connectKube,
  type JsonPatch,
  type Kube,
  type Listed,
  type ListOptions,
  type RemoveOptions,
} from "./client.ts";
export { isKubeError, KubeError } from "./error.ts";
export { createEventRecorder, type EventInput, type EventRecorder } from "./events.ts";
export { type Informer, type InformerOptions, startInformer } from "./informer.ts";
export { type LeaseHandle, type LeaseOptions, startLease } from "./lease.ts";
export { type PodLogLine, type PodLogRequest, readPodLog } from "./pod-log.ts";
export {
  type CoreEvent,
  type CustomResourceDefinition,
  type Job,
  type KubeObject,
  type Lease,
  type Node,
  type ObjectMeta,
  type OwnerReference,
  type PersistentVolumeClaim,
  type Pod,
  type Resource,
  resource,
  resources,
  type Secret,
  type Service,
  type StatefulSet,
  type Target,
} from "./resource.ts";
export { type WatchEvent, watch } from "./watch.ts";
export { createWorkQueue, type WorkQueue, type WorkQueueOptions } from "./work-queue.ts";
