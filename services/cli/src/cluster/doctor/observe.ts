// Reads from a cluster what an installation consists of.

import {
  type CustomResourceDefinition,
  isKubeError,
  type Kube,
  type KubeObject,
  type Node,
  type Pod,
  resources,
} from "@svc/kube";
import type { KubernetesObject } from "../../manifests/installation.ts";
import { resourceOf } from "../kinds.ts";
import type { Expected } from "./expected.ts";

/** An object with whatever fields its kind has. */
export type Found = KubeObject & { spec?: Fields; status?: Fields; [key: string]: unknown };
// biome-ignore lint/suspicious/noExplicitAny: fields of any kind, as the API server sends them
export type Fields = Record<string, any>;

export type Observed = {
  version: string;
  nodes: Node[];
  pods: Pod[];
  definition: CustomResourceDefinition | undefined;
  /** By `keyOf`. */
  objects: ReadonlyMap<string, Found>;
  /** Kinds that this API server does not serve, as `policy/v1 PodDisruptionBudget`. */
  unserved: ReadonlySet<string>;
  /** Keys of the Secrets that are needed, by `namespace/name`; values are not kept. */
  secretKeys: ReadonlyMap<string, readonly string[]>;
};

type Head = Pick<KubernetesObject, "kind" | "metadata">;

export function keyOf({ kind, metadata: { namespace = "", name } }: Head): string {
  return `${kind} ${namespace}/${name}`;
}

/** Rejects with a `KubeError` for what the kubeconfig may not read, or the fault `unavailable`. */
export async function observe(kube: Kube, expected: Expected): Promise<Observed> {
  const wanted = [...expected.prerequisites, ...expected.objects];
  const namespaces = [...new Set(wanted.flatMap(({ metadata: { namespace } }) => namespace ?? []))];
  const objects = new Map<string, Found>();
  const unserved = new Set<string>();
  const collections = new Map(
    wanted.map((one) => [`${one.apiVersion} ${one.kind} ${one.metadata.namespace ?? ""}`, one]),
  );
  for (const one of collections.values()) {
    const { namespace } = one.metadata;
    const items = await listServed(kube, one, namespace);
    if (!items) unserved.add(`${one.apiVersion} ${one.kind}`);
    for (const item of items ?? []) objects.set(keyOf({ ...item, kind: one.kind }), item);
  }
  const pods = await Promise.all(namespaces.map((namespace) => kube.list(resources.pods, { namespace })));
  return {
    version: await kube.version(),
    nodes: (await kube.list(resources.nodes)).items,
    pods: pods.flatMap(({ items }) => items),
    definition: await kube.find(resources.customResourceDefinitions, { name: definitionName }),
    objects,
    unserved,
    secretKeys: await readSecretKeys(kube, expected),
  };
}

const definitionName = "minecraftservers.svc.internal";

async function listServed(kube: Kube, one: KubernetesObject, namespace?: string) {
  try {
    const { items } = await kube.list(resourceOf(one), namespace === undefined ? {} : { namespace });
    return items as Found[];
  } catch (error) {
    if (isKubeError(error, 404)) return undefined;
    throw error;
  }
}

async function readSecretKeys(kube: Kube, { secrets }: Expected): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const { namespace, name } of secrets) {
    const secret = await kube.find(resources.secrets, { namespace, name });
    if (secret) found.set(`${namespace}/${name}`, Object.keys(secret.data ?? {}));
  }
  return found;
}
