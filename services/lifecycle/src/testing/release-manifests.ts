// What a release installs in a cluster: definition, namespaces, accounts and Roles, as `svc migrate up` applies them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isKubeError, type Kube, type KubeObject, resource, resources } from "@svc/kube";
import { parseAllDocuments } from "yaml";
import { minecraftServerCrd } from "../crd/definition.ts";

const deploy = fileURLToPath(new URL("../../../../deploy/kubernetes/", import.meta.url));

const plurals: Record<string, [plural: string, isNamespaced: boolean]> = {
  Namespace: ["namespaces", false],
  ServiceAccount: ["serviceaccounts", true],
  Role: ["roles", true],
  RoleBinding: ["rolebindings", true],
  ClusterRole: ["clusterroles", false],
  ClusterRoleBinding: ["clusterrolebindings", false],
  NetworkPolicy: ["networkpolicies", true],
};

/** The objects of one shipped file, such as `base/roles.yaml`. */
export function readManifest(file: string): KubeObject[] {
  return parseAllDocuments(readFileSync(join(deploy, file), "utf8")).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]?.message}`);
    return document.toJS() as KubeObject;
  });
}

/** Creates the objects of one shipped file; existing ones stay as they are. */
export async function applyManifest(kube: Kube, file: string): Promise<void> {
  for (const object of readManifest(file)) {
    const { kind, apiVersion } = object;
    const [plural, namespaced] = plurals[kind] ?? ["", false];
    const [version = "", group = ""] = apiVersion.split("/").reverse();
    await createOnce(kube.create(resource({ group, version, plural, kind, namespaced }), object));
  }
}

/** The definition, namespaces, and what the service lifecycle may do. */
export async function applyRelease(kube: Kube): Promise<void> {
  await applyManifest(kube, "prerequisites/namespaces.yaml");
  await createOnce(kube.create(resources.customResourceDefinitions, minecraftServerCrd()));
  await applyManifest(kube, "base/roles.yaml");
}

async function createOnce(made: Promise<unknown>): Promise<void> {
  await made.catch((error: unknown) => {
    if (!isKubeError(error, 409)) throw error;
  });
}
