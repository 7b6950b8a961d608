// Kubernetes client: typed calls, informers, leader election, work queues and events (docs/reference/server-resource.md#kind).

export { cleanLine } from "./clean-line.ts";
export { connectKube, type Kube } from "./client.ts";
export { isKubeError, KubeError } from "./error.ts";
export { createEventRecorder, type EventRecorder } from "./events.ts";
export { type Informer, startInformer } from "./informer.ts";
export { startLease } from "./lease.ts";
export { createLineBudget } from "./line-budget.ts";
export { createCursorTracker, encodeCursor, type LogCursor, parseCursor } from "./log-cursor.ts";
export { secretOwnedBy } from "./owned-secret.ts";
export { type PodLogLine, readPodLog } from "./pod-log.ts";
export {
  type ContainerStatus,
  type CustomResourceDefinition,
  type Job,
  type KubeObject,
  type Node,
  type ObjectMeta,
  type OwnerReference,
  type PersistentVolumeClaim,
  type Pod,
  type PodMetrics,
  pathOf,
  type Resource,
  resource,
  resources,
  type Secret,
  type Service,
  type StatefulSet,
  type Target,
} from "./resource.ts";
export { createWorkQueue, type WorkQueue } from "./work-queue.ts";
