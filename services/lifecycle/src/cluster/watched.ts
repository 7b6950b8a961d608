import {
  type Informer,
  type Kube,
  type Node,
  type Pod,
  resources,
  type Service,
  type StatefulSet,
  startInformer,
} from "@svc/kube";
import type { Logger } from "@svc/telemetry";
import { label, operatorName, type Server, servers } from "./resource.ts";

type Changed<T> = (name: string, now: T | undefined, before: T | undefined) => void;

/** Copies of the cluster's objects, which passes read. */
export type Watched = {
  servers: Informer<Server>;
  statefulSets: Informer<StatefulSet>;
  services: Informer<Service>;
  pods: Informer<Pod>;
  nodes: Informer<Node>;
};

type Deps = { kube: Kube; namespace: string; relistMs: number; log: Logger };

/** Every replica watches servers and nodes and answers requests from the copies. */
export function watchServers(
  { kube, namespace, relistMs, log }: Deps,
  onServer: Changed<Server>,
): { servers: Informer<Server>; nodes: Informer<Node> } {
  return {
    servers: startInformer({ kube, log, namespace, relistMs, resource: servers, onChange: onServer }),
    nodes: startInformer({ kube, log, relistMs, resource: resources.nodes, strip: withoutImages }),
  };
}

/** The leader also watches the objects it creates. `onOwned` is called with the server's name. */
export function watchOwned(
  { kube, namespace, relistMs, log }: Deps,
  onOwned: (name: string) => void,
): Pick<Watched, "statefulSets" | "services" | "pods"> {
  const shared = { kube, log, namespace, relistMs, labelSelector: `${label.managedBy}=${operatorName}` };
  const onChange: Changed<{ metadata: { labels?: Record<string, string> } }> = (_name, now, before) => {
    const name = (now ?? before)?.metadata.labels?.[label.server];
    if (name !== undefined) onOwned(name);
  };
  return {
    statefulSets: startInformer({ ...shared, resource: resources.statefulSets, onChange }),
    services: startInformer({ ...shared, resource: resources.services, onChange }),
    pods: startInformer({ ...shared, resource: resources.pods, onChange, strip: trimPod }),
  };
}

// Most of a node's size is its list of images.
function withoutImages(node: Node): Node {
  const { images: _images, ...status } = (node.status ?? {}) as Record<string, unknown>;
  return { ...node, status };
}

// Only the node name of a pod's spec is read.
function trimPod(pod: Pod): Pod {
  const nodeName = pod.spec?.nodeName;
  return { ...pod, spec: { containers: [], ...(nodeName !== undefined && { nodeName }) } };
}
