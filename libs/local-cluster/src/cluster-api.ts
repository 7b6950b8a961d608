// The contract between the API server of the embedded cluster and the controllers that run beside it.

/** Any Kubernetes object as JSON; a stored one always has `metadata`. */
export type KubeObject = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
  [key: string]: unknown;
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
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  /** Never stored: field ownership is not tracked. */
  managedFields?: unknown[];
};

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

/** A resource as its REST path names it; `group` is empty for core/v1. */
export type ResourceRef = { group: string; version: string; resource: string };

export type WatchEvent = { type: "ADDED" | "MODIFIED" | "DELETED"; object: KubeObject };

export type ListOptions = { namespace?: string; labelSelector?: string; fieldSelector?: string };

export type DeleteOptions = {
  gracePeriodSeconds?: number;
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  preconditions?: { uid?: string; resourceVersion?: string };
};

/**
 * In-process access to the API server with full rights, the way a controller sees a cluster.
 * Returned objects are shared with the store and deep-frozen: copy (structuredClone) before changing one.
 * Garbage collection of dependents is done by the API server itself. An unbound or finished pod is removed at
 * once by `delete`; a bound one gets a deletionTimestamp and stays until it is deleted with gracePeriodSeconds 0.
 * Every call goes through the same admission, validation and optimistic concurrency as HTTP does.
 * A refusal throws an `ApiStatus` error with the HTTP code (404, 409, 422, …) and the Kubernetes reason.
 */
export type ClusterApi = {
  list(ref: ResourceRef, options?: ListOptions): { items: KubeObject[]; resourceVersion: string };
  get(ref: ResourceRef, name: string, namespace?: string): KubeObject;
  find(ref: ResourceRef, name: string, namespace?: string): KubeObject | undefined;
  create(ref: ResourceRef, object: KubeObject): KubeObject;
  /** Replaces the object; a `resourceVersion` in it must match (409 Conflict). Status changes are ignored. */
  update(ref: ResourceRef, object: KubeObject): KubeObject;
  /** Replaces only `status` (the status subresource). */
  updateStatus(ref: ResourceRef, object: KubeObject): KubeObject;
  /** JSON merge patch (RFC 7386) of the object, or of its status subresource. */
  mergePatch(
    ref: ResourceRef,
    target: { name: string; namespace?: string; subresource?: "status" | "scale" },
    patch: Record<string, unknown>,
  ): KubeObject;
  delete(ref: ResourceRef, target: { name: string; namespace?: string }, options?: DeleteOptions): void;
  /** Sets `spec.nodeName` of a pod that has none, as POST pods/NAME/binding does (409 when it is bound already). */
  bindPod(target: { name: string; namespace: string }, nodeName: string): void;
  /** Every namespaced resource that can be listed, including those of CRDs: a terminating namespace must empty them. */
  namespacedResources(): ResourceRef[];
  /**
   * Removes a Namespace whose content is gone. Until this call a deleted Namespace stays, with `deletionTimestamp`,
   * phase Terminating and the entry `kubernetes` in `spec.finalizers`.
   */
  finalizeNamespace(name: string): void;
  /**
   * Calls back for every existing object as ADDED first, then for each change in order. The callback runs
   * after the change is stored and must not throw. Returns a function that ends the watch.
   */
  watch(ref: ResourceRef, options: ListOptions, onEvent: (event: WatchEvent) => void): () => void;
};

/** At once from this process's own API server, later from a remote one. */
export type Awaitable<T> = T | Promise<T>;

/** What a node agent, the scheduler and the provisioner need of an API server, this process's own or a remote one. */
export type NodeApi = {
  find(ref: ResourceRef, name: string, namespace?: string): Awaitable<KubeObject | undefined>;
  create(ref: ResourceRef, object: KubeObject): Awaitable<KubeObject>;
  mergePatch(
    ref: ResourceRef,
    target: { name: string; namespace?: string; subresource?: "status" },
    patch: Record<string, unknown>,
  ): Awaitable<KubeObject>;
  delete(
    ref: ResourceRef,
    target: { name: string; namespace?: string },
    options?: DeleteOptions,
  ): Awaitable<void>;
  bindPod(target: { name: string; namespace: string }, nodeName: string): Awaitable<void>;
};

/** Reads logs from the node agents; the API server serves `pods/NAME/log` from it. */
export type PodLogs = {
  /**
   * Bytes of one container's log in order. With `follow` the stream stays open until the container ends or
   * `signal` aborts. Lines carry an RFC 3339 nanosecond time when `timestamps` is set.
   */
  read(pod: KubeObject, options: PodLogOptions, signal: AbortSignal): AsyncIterable<Buffer>;
};

export type PodLogOptions = {
  container?: string;
  follow?: boolean;
  previous?: boolean;
  timestamps?: boolean;
  tailLines?: number;
  limitBytes?: number;
  sinceSeconds?: number;
  sinceTime?: string;
};

/** Usage of the processes of one container. */
type ContainerUsage = { container: string; cpuNanocores: number; memoryBytes: number };
/** Usage of a pod on average over the window that ends at `at`. */
export type PodUsage = { at: Date; windowMs: number; containers: ContainerUsage[] };

/** Measures the pods on the nodes; the API server serves `metrics.k8s.io` from it. */
export type PodUsages = {
  /** By uid of the pod. A pod is missing until it has been measured for a whole window. */
  measure(): Promise<Map<string, PodUsage>>;
};
