// What lifecycle needs in a cluster: the namespace, the custom resource and the Roles we ship.

import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { connectKube, isKubeError, type Kube, type KubeObject, resource } from "@svc/kube";
import { parseAllDocuments } from "yaml";

const deploy = resolve(import.meta.dirname, "../../../../deploy");

type Manifest = KubeObject & { apiVersion: string; kind: string };

/** Creates or updates every object of `deploy/crd` and `deploy/rbac`; returns those that changed, as `Kind name`. */
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

// Namespaces and service accounts come before objects that use them.
const order = ["Namespace", "CustomResourceDefinition", "ServiceAccount"];

function readManifests(): Manifest[] {
  const files = ["crd", "rbac"].flatMap((folder) =>
    readdirSync(resolve(deploy, folder)).map((file) => resolve(deploy, folder, file)),
  );
  const rank = ({ kind }: Manifest) => (order.includes(kind) ? order.indexOf(kind) : order.length);
  return files
    .filter((file) => /\.(json|ya?ml)$/.test(file))
    .flatMap((file) =>
      parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Manifest),
    )
    .filter((manifest) => manifest !== null)
    .sort((a, b) => rank(a) - rank(b));
}

const plurals: Record<string, string> = {
  Namespace: "namespaces",
  CustomResourceDefinition: "customresourcedefinitions",
  ServiceAccount: "serviceaccounts",
  Role: "roles",
  RoleBinding: "rolebindings",
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
};

async function apply(kube: Kube, manifest: Manifest): Promise<boolean> {
  const kind = kindOf(manifest);
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

function kindOf(manifest: Manifest) {
  const [version = "", group = ""] = manifest.apiVersion.split("/").reverse();
  const plural = plurals[manifest.kind];
  if (!plural) throw new Error(`deploy holds a ${manifest.kind}, which svc migrate up cannot apply`);
  return resource<KubeObject>({
    group,
    version,
    plural,
    kind: manifest.kind,
    namespaced: manifest.metadata.namespace !== undefined,
  });
}
