import type { Informer, Kube, Node } from "@svc/kube";
import type { Context, Mesh } from "@svc/mesh";
import { type AnyContract, servers as contracts, Fault, isNameShape, isUserName } from "@svc/proto";
import type { LifecycleSettings } from "../config.ts";
import type { Server } from "./resource.ts";
import type { ServerStore } from "./store.ts";

/** What the handlers of operations on servers work with. */
export type ServerDeps = {
  kube: Kube;
  mesh: Pick<Mesh, "call" | "audit">;
  store: ServerStore;
  servers: Informer<Server>;
  nodes: Informer<Node>;
  settings: LifecycleSettings;
  namespace: string;
  countSoon: (name: string) => boolean;
};

export { contracts };

/** A name in a path of the internal face: system servers have one too. Throws `bad_name` or `not_found`. */
export function findByAnyName(deps: Pick<ServerDeps, "servers">, name: string): Server {
  if (!isNameShape(name)) throw new Fault("bad_name");
  return find(deps, name);
}

/** A name in a path of the external face: those of the platform are refused too (architecture.md 6.14). */
export function findByUserName(deps: Pick<ServerDeps, "servers">, name: string): Server {
  if (!isUserName(name)) throw new Fault("bad_name");
  return find(deps, name);
}

function find({ servers }: Pick<ServerDeps, "servers">, name: string): Server {
  const server = servers.get(name);
  if (server && server.metadata.deletionTimestamp === undefined) return server;
  throw new Fault("not_found", { message: `There is no server ${name}.` });
}

/** Who did something, as the audit log wants it (interface.md 6.4). */
export function auditActor(context: Context<AnyContract>): {
  actor: string;
  source: string;
  request_id: string;
  actor_user_id?: string;
  client_ip?: string;
  user_agent?: string;
} {
  const { principal, client, requestId } = context;
  const about = {
    request_id: requestId,
    ...(client.address && { client_ip: client.address }),
    ...(client.userAgent && { user_agent: client.userAgent }),
  };
  switch (principal.kind) {
    case "account":
      return { ...about, actor: principal.username, actor_user_id: principal.user_id, source: "external" };
    case "caller":
      return { ...about, actor: principal.caller, source: `internal:${principal.caller}` };
    case "service":
      return { ...about, actor: principal.service, source: `internal:${principal.service}` };
    case "anonymous":
      return { ...about, actor: "anonymous", source: "external" };
  }
}
