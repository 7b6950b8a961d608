// What lifecycle needs in a cluster: the namespace, the custom resource and the Roles we ship.

import { readFileSync } from "node:fs";
import { connectKube, isKubeError, type Kube, type KubeObject } from "@svc/kube";
import { installation, objectsOf, prerequisites } from "../manifests/installation.ts";
import { readValues } from "../manifests/values/read.ts";
import { resourceOf } from "./kinds.ts";

export const definitionFile = new URL(
  "../../../../deploy/crd/minecraftservers.svc.internal.json",
  import.meta.url,
);

type Manifest = KubeObject & { apiVersion: string; kind: string };

/** Creates or updates the custom resource, the namespaces, accounts and Roles; returns those that changed, as `Kind name`. */
export async function applyDefinitions(kubeconfigFile: string): Promise<string[]> {
  const kube = connectKube({ kubeconfigFile });
  try {
    const changed: string[] = [];
    for (const manifest of readManifests()) {
      if (await apply(kube, manifest)) changed.push(`${manifest.kind} ${manifest.metadata.name}`);
    }
    return changed;
  } finally {
    kube.close();
  }
}

/** As in `deploy/kubernetes`, for the default values. */
function readManifests(): Manifest[] {
  const definition = JSON.parse(readFileSync(definitionFile, "utf8")) as Manifest;
  const values = readValues();
  const objects = [...prerequisites, ...installation].flatMap((file) => objectsOf(file, values));
  return [definition, ...objects.filter(({ kind }) => applied.includes(kind))];
}

/** What a local stack needs of it; its processes run beside the cluster. */
const applied = [
  "Namespace",
  "CustomResourceDefinition",
  "ServiceAccount",
  "Role",
  "RoleBinding",
  "ClusterRole",
  "ClusterRoleBinding",
];

async function apply(kube: Kube, manifest: Manifest): Promise<boolean> {
  const kind = resourceOf(manifest);
  const { name, namespace } = manifest.metadata;
  const found = await kube.find(kind, { name, ...(namespace ? { namespace } : {}) });
  if (found) {
    const { metadata, ...content } = manifest;
    const after = await kube.patch(kind, { name, ...(namespace ? { namespace } : {}) }, { merge: content });
    return after.metadata.resourceVersion !== found.metadata.resourceVersion;
  }
  try {
    await kube.create(kind, manifest);
  } catch (error) {
    if (!isKubeError(error, 409)) throw error;
  }
  return true;
}
