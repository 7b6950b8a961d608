// Applies objects to the API server of the lane, which is so old that it serves some kinds only as v1beta1.

import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import type { Kube } from "@svc/kube";
import type { KubernetesObject } from "../../services/cli/src/manifests/installation.ts";

const clusterWide = [
  "Namespace",
  "PriorityClass",
  "PersistentVolume",
  "ClusterRole",
  "ClusterRoleBinding",
  "CustomResourceDefinition",
];

export function pathOf({
  apiVersion,
  kind,
  metadata: { name, namespace },
}: Pick<KubernetesObject, "apiVersion" | "kind" | "metadata">): string {
  const plural = kind.endsWith("y")
    ? `${kind.slice(0, -1)}ies`
    : kind.endsWith("s")
      ? `${kind}es`
      : `${kind}s`;
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  assert.equal(
    namespace === undefined,
    clusterWide.includes(kind),
    `${kind} ${name} has the scope of its kind`,
  );
  return `${root}${namespace ? `/namespaces/${namespace}` : ""}/${plural.toLowerCase()}/${name}`;
}

/** Versions to use instead of the wanted ones, by kind: a server before 1.25 has no policy/v1, for example. */
export async function olderVersions(kube: Kube): Promise<Map<string, string>> {
  const older = new Map<string, string>();
  const read = async <T>(path: string) => (await kube.transport.request({ method: "GET", path })) as T;
  for (const [group, kind] of [
    ["policy", "PodDisruptionBudget"],
    ["batch", "CronJob"],
  ] as const) {
    const { versions } = await read<{ versions: { groupVersion: string }[] }>(`/apis/${group}`);
    const isServed = versions.some(({ groupVersion }) => groupVersion === `${group}/v1`);
    const kinds = isServed
      ? (await read<{ resources: { kind: string }[] }>(`/apis/${group}/v1`)).resources
      : [];
    if (!kinds.some((one) => one.kind === kind)) older.set(kind, `${group}/v1beta1`);
  }
  return older;
}

type How = { older: ReadonlyMap<string, string>; dryRun?: boolean };

/** What the server made of an object. Its warnings are part of the answer. */
export async function apply(
  kube: Kube,
  object: KubernetesObject,
  { older, dryRun = false }: How,
): Promise<KubernetesObject> {
  const body = { ...object, apiVersion: older.get(object.kind) ?? object.apiVersion };
  const response = await kube.transport.open({
    method: "PATCH",
    path: pathOf(body),
    query: { fieldManager: "svc-install", fieldValidation: "Strict", ...(dryRun && { dryRun: "All" }) },
    body,
    contentType: "application/apply-patch+yaml",
  });
  const taken = JSON.parse(await text(response)) as KubernetesObject;
  // The API server of the lane calls its beta versions deprecated.
  const warnings = older.has(object.kind) ? undefined : response.headers["warning"];
  assert.equal(warnings, undefined, `${object.kind} ${object.metadata.name}: ${warnings}`);
  return taken;
}
