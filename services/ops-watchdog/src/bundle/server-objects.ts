// The MinecraftServer objects of the cluster as they go into a bundle: what a person would write, without status.

import { setTimeout as delay } from "node:timers/promises";
import { type Kube, type KubeObject, resource } from "@svc/kube";

export type ServerObject = KubeObject & { spec?: unknown };
export type ServerObjects = { kind: "read"; items: ServerObject[] } | { kind: "failed"; error: string };

export const minecraftServers = resource<ServerObject>({
  group: "svc.internal",
  version: "v1alpha1",
  plural: "minecraftservers",
  kind: "MinecraftServer",
  namespaced: true,
});

const attempts = 3;

/** Lists the objects, three times when the cluster does not answer. */
export async function readServerObjects(
  openKube: () => Kube,
  { namespace, pauseMs }: { namespace: string; pauseMs: number },
): Promise<ServerObjects> {
  let error = "";
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    if (attempt > 1) await delay(pauseMs);
    try {
      const kube = openKube();
      try {
        const { items } = await kube.list(minecraftServers, { namespace });
        return { kind: "read", items: items.map(portable).sort(byName) };
      } finally {
        kube.close();
      }
    } catch (failure) {
      error = (failure as Error).message.split("\n")[0] ?? "";
    }
  }
  return { kind: "failed", error: `the cluster's servers cannot be read: ${error}`.slice(0, 500) };
}

/** Without status and without what the API server wrote. */
function portable(object: ServerObject): ServerObject {
  const { name, namespace, labels, annotations } = object.metadata;
  return {
    apiVersion: "svc.internal/v1alpha1",
    kind: "MinecraftServer",
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec: object.spec,
  };
}

function byName(a: ServerObject, b: ServerObject): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
