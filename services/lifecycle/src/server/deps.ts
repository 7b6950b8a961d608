import type { Informer, Kube, Node } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { servers as contracts, Fault, isNameShape, isUserName } from "@svc/proto";
import { type Server, servers as serverResource } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import type { VersionStore } from "../image/version-store.ts";
import type { ServerStore } from "./store.ts";
import type { WakeReservations } from "./wake-reservations.ts";

/** Dependencies of the handlers of operations on servers. */
export type ServerDeps = {
  kube: Kube;
  mesh: Pick<Mesh, "call" | "audit">;
  store: ServerStore;
  versions: VersionStore;
  servers: Informer<Server>;
  nodes: Informer<Node>;
  settings: LifecycleSettings;
  namespace: string;
  countSoon: (name: string) => boolean;
  waking: WakeReservations;
};

export { contracts };

type Finding = Pick<ServerDeps, "servers" | "kube" | "namespace">;

/** By a name in a path of the internal face, where system servers are allowed. Throws `bad_name` or `not_found`. */
export async function findByAnyName(deps: Finding, name: string): Promise<Server> {
  if (!isNameShape(name)) throw new Fault("bad_name");
  return find(deps, name);
}

/** By a name in a path of the external face, where system servers are refused (docs/reference/server-resource.md#names). */
export async function findByUserName(deps: Finding, name: string): Promise<Server> {
  if (!isUserName(name)) throw new Fault("bad_name");
  return find(deps, name);
}

// A server that another replica has just created may be missing in our copy, so a miss is looked up in the cluster.
async function find({ servers, kube, namespace }: Finding, name: string): Promise<Server> {
  const server = servers.get(name) ?? (await kube.find(serverResource, { name, namespace }));
  if (server && server.metadata.deletionTimestamp === undefined) return server;
  throw new Fault("not_found", { message: `There is no server ${name}.` });
}

/** Throws `unavailable` while the cluster has not been read yet: an empty list would be wrong. */
export function assertListed({ servers }: Pick<ServerDeps, "servers">): void {
  if (servers.isReady()) return;
  throw new Fault("unavailable", { message: "The cluster cannot be read right now; try again in a moment." });
}
