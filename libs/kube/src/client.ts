import { openAccess } from "./access.ts";
import { apiVersionOf, type KubeObject, pathOf, type Resource, type Target } from "./resource.ts";
import { createTransport, type Transport } from "./transport.ts";

type CallOptions = { signal?: AbortSignal; timeoutMs?: number };
export type ListOptions = CallOptions & {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Objects per request; 500 by default. */
  pageSize?: number;
};
type Listed<T> = { items: T[]; resourceVersion: string };
type JsonPatch = readonly (
  | { op: "add" | "replace" | "test"; path: string; value: unknown }
  | { op: "remove"; path: string }
)[];
/** A merge patch (RFC 7386) or a JSON patch (RFC 6902), of the object or its status. */
type Change = ({ merge: unknown } | { json: JsonPatch }) & { subresource?: "status" | "scale" };
type RemoveOptions = CallOptions & {
  /** Deletes only the object with this uid or version. */
  uid?: string;
  resourceVersion?: string;
  gracePeriodSeconds?: number;
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
};

/**
 * Typed access to one cluster. Every call times out after 10 s unless `timeoutMs` is given. A rejection is a `KubeError`
 * (404, 409, 422, …); a cluster that cannot be reached, is overloaded or refuses our credentials is the fault
 * `unavailable`.
 */
export type Kube = {
  get: <T extends KubeObject>(kind: Resource<T>, target: Target, options?: CallOptions) => Promise<T>;
  /** As `get`, but undefined when the object does not exist. */
  find: <T extends KubeObject>(
    kind: Resource<T>,
    target: Target,
    options?: CallOptions,
  ) => Promise<T | undefined>;
  /** All objects, read in consistent pages. */
  list: <T extends KubeObject>(kind: Resource<T>, options?: ListOptions) => Promise<Listed<T>>;
  create: <T extends KubeObject>(kind: Resource<T>, object: T, options?: CallOptions) => Promise<T>;
  /** Replaces the object; its `resourceVersion`, when given, must be the current one (409). */
  replace: <T extends KubeObject>(kind: Resource<T>, object: T, options?: CallOptions) => Promise<T>;
  replaceStatus: <T extends KubeObject>(kind: Resource<T>, object: T, options?: CallOptions) => Promise<T>;
  patch: <T extends KubeObject>(kind: Resource<T>, target: Target, change: Change) => Promise<T>;
  remove: <T extends KubeObject>(kind: Resource<T>, target: Target, options?: RemoveOptions) => Promise<void>;
  /** The server's version, for example `v1.30.1`; the cheapest request. */
  version: (options?: CallOptions) => Promise<string>;
  readonly transport: Transport;
  /** Closes idle connections. */
  close: () => void;
};

/**
 * Connects to the cluster of a kubeconfig file, or to the one this pod runs in. Reads the file at once and throws a
 * sentence when it can't be used; connects with the first call.
 */
export function connectKube(options: { kubeconfigFile?: string | undefined } = {}): Kube {
  // biome-ignore lint/style/noProcessEnv: the API server's address is what Kubernetes puts into a pod's environment
  const transport = createTransport(openAccess(options.kubeconfigFile, process.env));
  const { request } = transport;
  const one = async <T>(call: Parameters<Transport["request"]>[0]) => (await request(call)) as T;
  const get: Kube["get"] = (kind, target, about = {}) =>
    one({ method: "GET", path: pathOf(kind, target), ...about });
  return {
    transport,
    get,
    find: (kind, target, about) =>
      get(kind, target, about).catch((error: { name?: string; code?: number }) => {
        if (error.name === "KubeError" && error.code === 404) return undefined;
        throw error;
      }),
    list: (kind, about = {}) => listAll(transport, kind, about),
    create: (kind, object, about = {}) =>
      one({
        method: "POST",
        path: pathOf(kind, placeOf(object)),
        body: { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind },
        ...about,
      }),
    replace: (kind, object, about = {}) =>
      one({ method: "PUT", path: pathOf(kind, object.metadata), body: object, ...about }),
    replaceStatus: (kind, object, about = {}) =>
      one({ method: "PUT", path: `${pathOf(kind, object.metadata)}/status`, body: object, ...about }),
    patch: (kind, target, change) => {
      const suffix = change.subresource ? `/${change.subresource}` : "";
      const isMerge = "merge" in change;
      return one({
        method: "PATCH",
        path: `${pathOf(kind, target)}${suffix}`,
        body: isMerge ? change.merge : change.json,
        contentType: isMerge ? "application/merge-patch+json" : "application/json-patch+json",
      });
    },
    remove: async (kind, target, about = {}) => {
      const { signal, timeoutMs } = about;
      await request({
        method: "DELETE",
        path: pathOf(kind, target),
        body: deleteBody(about),
        signal,
        timeoutMs,
      });
    },
    version: async (about = {}) => {
      const answer = await one<{ gitVersion?: string }>({ method: "GET", path: "/version", ...about });
      return answer.gitVersion ?? "";
    },
    close: transport.close,
  };
}

function placeOf(object: KubeObject): { namespace?: string } {
  return object.metadata.namespace === undefined ? {} : { namespace: object.metadata.namespace };
}

function deleteBody({ uid, resourceVersion, gracePeriodSeconds, propagationPolicy }: RemoveOptions): unknown {
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(propagationPolicy && { propagationPolicy }),
  };
}

async function listAll<T extends KubeObject>(
  transport: Transport,
  kind: Resource<T>,
  options: ListOptions,
): Promise<Listed<T>> {
  const { namespace, labelSelector, fieldSelector, pageSize = 500, ...about } = options;
  const items: T[] = [];
  const head = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  let next: string | undefined;
  for (;;) {
    const page = (await transport.request({
      method: "GET",
      path: pathOf(kind, namespace === undefined ? {} : { namespace }),
      query: { labelSelector, fieldSelector, limit: pageSize, continue: next },
      ...about,
    })) as { items?: T[]; metadata?: { continue?: string; resourceVersion?: string } };
    // List items come without kind and version; add both.
    for (const item of page.items ?? []) items.push({ ...item, ...head });
    next = page.metadata?.continue;
    if (!next) return { items, resourceVersion: page.metadata?.resourceVersion ?? "" };
  }
}
