// Worlds of a test: folders that claims are bound to, stopped servers, and the release that they need.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isKubeError, type Kube, type KubeObject, resource, resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import { lockedServers } from "@svc/world-lock";
import { parseAllDocuments } from "yaml";

const repo = fileURLToPath(new URL("../../../../", import.meta.url));
/** Different where several tests share a cluster; it must be set before this file is loaded. */
// biome-ignore lint/style/noProcessEnv: a switch of the tests, not of the service
export const namespace = process.env["SVC_TEST_NAMESPACE"] ?? "minecraft";
/** Names of volumes are unique in the cluster. */
const volumeOf = (claim: string) => (namespace === "minecraft" ? claim : `${namespace}-${claim}`);

export function writeFiles(root: string, files: Record<string, string>): void {
  mkdirSync(root, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

export function readFiles(root: string): Record<string, string> {
  const names = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files.sort().map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")]),
  );
}

export const volumes = resource<KubeObject>({
  group: "",
  version: "v1",
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});

/** A claim that is bound to a folder. */
export async function addVolume(kube: Kube, { claim, path }: { claim: string; path: string }): Promise<void> {
  const spec = { accessModes: ["ReadWriteMany"], storageClassName: "" };
  const head = { apiVersion: "v1" };
  await kube.create(volumes, {
    ...head,
    metadata: { name: volumeOf(claim) },
    kind: "PersistentVolume",
    spec: {
      ...spec,
      capacity: { storage: "1Gi" },
      persistentVolumeReclaimPolicy: "Retain",
      hostPath: { path },
      claimRef: { namespace, name: claim },
    },
  } as KubeObject);
  // A binder that sees the claim first retries only 15 s later.
  const isThere = async () => {
    const volume = (await kube.get(volumes, { name: volumeOf(claim) })) as { status?: { phase?: string } };
    return volume.status?.phase === "Available";
  };
  if (namespace !== "minecraft") await until(isThere, 60_000);
  await kube.create(resources.claims, {
    ...head,
    kind: "PersistentVolumeClaim",
    metadata: { name: claim, namespace },
    spec: { ...spec, volumeName: volumeOf(claim), resources: { requests: { storage: "1Gi" } } },
  });
  const isBound = async () =>
    (await kube.find(resources.claims, { name: claim, namespace }))?.status?.phase === "Bound";
  await until(isBound, 60_000);
}

export async function addServerObject(kube: Kube, name: string): Promise<void> {
  const object = await kube.create(lockedServers, {
    apiVersion: "svc.internal/v1alpha1",
    kind: "MinecraftServer",
    metadata: { name, namespace },
    spec: { subdomain: name, image: "svc.local/nothing", desiredState: "Stopped" },
  } as never);
  const status = { phase: "Stopped", observedGeneration: object.metadata.generation };
  await kube.patch(lockedServers, { name, namespace }, { merge: { status }, subresource: "status" });
}

const plurals: Record<string, [group: string, version: string, plural: string, namespaced: boolean]> = {
  Namespace: ["", "v1", "namespaces", false],
  ServiceAccount: ["", "v1", "serviceaccounts", true],
  Role: ["rbac.authorization.k8s.io", "v1", "roles", true],
  RoleBinding: ["rbac.authorization.k8s.io", "v1", "rolebindings", true],
  ClusterRole: ["rbac.authorization.k8s.io", "v1", "clusterroles", false],
  ClusterRoleBinding: ["rbac.authorization.k8s.io", "v1", "clusterrolebindings", false],
  CustomResourceDefinition: ["apiextensions.k8s.io", "v1", "customresourcedefinitions", false],
};

/** The definition, the namespaces and the Roles, as they are shipped. */
export async function applyRelease(kube: Kube): Promise<void> {
  const definition = "crd/minecraftservers.svc.internal.json";
  for (const file of ["kubernetes/prerequisites/namespaces.yaml", definition, "kubernetes/base/roles.yaml"]) {
    const shipped = readFileSync(join(repo, "deploy", file), "utf8");
    const text = shipped.replaceAll(/(namespace|name): minecraft$/gm, `$1: ${namespace}`);
    for (const document of parseAllDocuments(text)) {
      const object = document.toJS() as KubeObject;
      const [group, version, plural, namespaced] = plurals[object.kind] ?? ["", "", "", false];
      await kube
        .create(resource({ group, version, plural, kind: object.kind, namespaced }), object)
        .catch((error: unknown) => {
          if (!isKubeError(error, 409)) throw error;
        });
    }
  }
  // A cluster needs a moment to serve a kind that was just defined.
  const isServed = () => kube.list(lockedServers, { namespace }).then(Boolean, () => false);
  await until(isServed, 60_000);
}
