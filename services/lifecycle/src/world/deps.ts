import { resources } from "@svc/kube";
import { worlds as contracts } from "@svc/proto";
import { servers as resource, type Server } from "../cluster/resource.ts";
import type { ServerDeps } from "../server/deps.ts";
import type { WorldRow, WorldStore } from "./store.ts";

export type WorldDeps = ServerDeps & { worlds: WorldStore };

export { contracts };

type Found = { server: Server | undefined; row: WorldRow | undefined; hasPod: boolean };

/** A server as stored in cluster and database; undefined when neither knows the name. */
export async function findFresh(deps: WorldDeps, name: string): Promise<Found | undefined> {
  const { kube, namespace, worlds } = deps;
  const [server, pod, row] = await Promise.all([
    kube.find(resource, { name, namespace }),
    kube.find(resources.pods, { name: `${name}-0`, namespace }),
    worlds.find(name),
  ]);
  if (!server && !row) return undefined;
  return { server, row, hasPod: pod !== undefined };
}
