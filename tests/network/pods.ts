// The pods of an installation as network policies see them: a namespace and labels, taken from the objects that make the pods.

import {
  installation,
  type KubernetesObject,
  objectsOf,
} from "../../services/cli/src/manifests/installation.ts";
import { readValues } from "../../services/cli/src/manifests/values/read.ts";
import { managedLabels } from "../../services/lifecycle/src/cluster/resource.ts";

export type Pod = { name: string; namespace: string; labels: Record<string, string> };

type PodTemplate = { metadata?: { labels?: Record<string, string> } };
type Workload = { template?: PodTemplate; jobTemplate?: { spec: { template: PodTemplate } } };

/** All objects with the values of a file; everything that can be switched on should be. */
export function objectsFor(valuesFile: string): KubernetesObject[] {
  const values = readValues(valuesFile);
  return installation.flatMap((file) => objectsOf(file, values));
}

/** One pod for each workload of the control plane. */
export function controlPods(objects: readonly KubernetesObject[]): Pod[] {
  return objects.flatMap(({ metadata, spec }) => {
    const { template, jobTemplate } = (spec ?? {}) as Workload;
    const labels = (template ?? jobTemplate?.spec.template)?.metadata?.labels;
    const name = labels?.["app.kubernetes.io/name"];
    return labels && name ? [{ name, namespace: metadata.namespace ?? "default", labels }] : [];
  });
}

const own = { "svc.internal/managed-by": "svc-operator", "svc.internal/component": "server" };
const build = { "svc.internal/component": "build-job", "svc.internal/managed-by": "svc-builds" };

/** What lifecycle, storage and builds make, and pods of others. */
export const otherPods: readonly Pod[] = [
  { name: "server", namespace: "minecraft", labels: managedLabels("survival") },
  { name: "neighbour", namespace: "minecraft", labels: managedLabels("creative") },
  {
    name: "login",
    namespace: "minecraft",
    labels: { ...managedLabels("login"), "svc.internal/system-role": "login" },
  },
  {
    name: "lobby",
    namespace: "minecraft",
    labels: { ...managedLabels("lobby"), "svc.internal/system-role": "lobby" },
  },
  {
    name: "drill",
    namespace: "minecraft",
    labels: { ...own, "svc.internal/drill": "d-1" },
  },
  { name: "world-job", namespace: "minecraft", labels: { "svc.internal/component": "world-job" } },
  { name: "build", namespace: "svc-build", labels: build },
  {
    name: "pack-build",
    namespace: "svc-build",
    labels: { ...build, "svc.internal/build-downloads": "pack" },
  },
  { name: "kube-dns", namespace: "kube-system", labels: { "k8s-app": "kube-dns" } },
  { name: "prometheus", namespace: "monitoring", labels: { app: "prometheus" } },
  { name: "stranger", namespace: "default", labels: { app: "shop" } },
  // Somebody who may make pods in the namespace of games and calls one as the proxy is called.
  { name: "impostor", namespace: "minecraft", labels: { "app.kubernetes.io/name": "proxy" } },
];
