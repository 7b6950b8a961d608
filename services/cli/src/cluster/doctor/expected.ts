// What an installation with certain values has: its objects, and what they need that svc does not make.

import {
  installation,
  type KubernetesObject,
  objectsOf,
  prerequisites,
} from "../../manifests/installation.ts";
import type { Values } from "../../manifests/values/schema.ts";

/** Keys that the pods read from a Secret; without keys only the Secret itself is needed. */
type NeededSecret = { namespace: string; name: string; keys: string[] };

export type Expected = {
  prerequisites: KubernetesObject[];
  objects: KubernetesObject[];
  secrets: NeededSecret[];
  /** Archives are in a folder of one node, whose volumes select it by this label (docs/install.md#2-values); absent when they are shared. */
  nodeLabel: string | undefined;
};

export function expectedOf(values: Values): Expected {
  const objects = installation.flatMap((file) => objectsOf(file, values));
  return {
    prerequisites: prerequisites.flatMap((file) => objectsOf(file, values)),
    objects,
    secrets: neededSecrets(objects),
    nodeLabel: values.volumes.kind === "local" ? values.volumes.nodeLabel : undefined,
  };
}

/** The pod template of a workload, wherever its kind has it. */
export function templateOf(object: KubernetesObject): PodTemplate | undefined {
  const { template, jobTemplate } = (object["spec"] ?? {}) as WorkloadSpec;
  return template ?? jobTemplate?.spec?.template;
}

type WorkloadSpec = { template?: PodTemplate; jobTemplate?: { spec?: { template?: PodTemplate } } };
type Key = { name?: string; key?: string; optional?: boolean };
type Container = {
  image?: string;
  env?: { valueFrom?: { secretKeyRef?: Key } }[];
  envFrom?: { secretRef?: { name?: string; optional?: boolean } }[];
};
type SecretVolume = { secretName?: string; optional?: boolean; items?: { key: string }[] };
type PodTemplate = {
  spec?: {
    containers?: Container[];
    initContainers?: Container[];
    volumes?: { secret?: SecretVolume }[];
    imagePullSecrets?: { name: string }[];
  };
};

function neededSecrets(objects: readonly KubernetesObject[]): NeededSecret[] {
  const found = new Map<string, NeededSecret>();
  for (const object of objects) {
    const { namespace = "" } = object.metadata;
    for (const { name, keys } of secretsOf(templateOf(object))) {
      const one = found.get(`${namespace}/${name}`) ?? { namespace, name, keys: [] };
      one.keys = [...new Set([...one.keys, ...keys])];
      found.set(`${namespace}/${name}`, one);
    }
  }
  return [...found.values()];
}

function secretsOf(template: PodTemplate | undefined): { name: string; keys: string[] }[] {
  const { containers = [], initContainers = [], volumes = [], imagePullSecrets = [] } = template?.spec ?? {};
  const all = [...containers, ...initContainers];
  const keys = all.flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom?.secretKeyRef));
  const whole = all.flatMap(({ envFrom = [] }) => envFrom.map(({ secretRef }) => secretRef));
  const mounted = volumes.map(({ secret }) => secret);
  return [
    ...keys.map((one) => ({ ...one, keys: one?.key === undefined ? [] : [one.key] })),
    ...whole.map((one) => ({ ...one, keys: [] })),
    ...mounted.map((one) => ({
      ...one,
      name: one?.secretName,
      keys: one?.items?.map(({ key }) => key) ?? [],
    })),
    ...imagePullSecrets.map(({ name }) => ({ name, optional: false, keys: [] })),
  ].flatMap(({ name, optional, keys: some }) => (name && !optional ? [{ name, keys: some }] : []));
}
