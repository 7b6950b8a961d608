import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { players } from "@svc/proto";
import { annotation, namespaceOf, servers as resource, type Server } from "../cluster/resource.ts";
import { type contracts, findByAnyName, type ServerDeps } from "./deps.ts";

/** Advisory: RCON decides whether a server is ready (docs/reference/wake.md#join). */
export const reportReady =
  (deps: ServerDeps): Handler<typeof contracts.reportReady> =>
  async (context, { name }) => {
    await findByAnyName(deps, name);
    deps.mesh.audit({ ...auditActor(context), action: "server.ready", server_name: name });
    return null;
  };

export const reportJoin =
  (deps: ServerDeps): Handler<typeof contracts.reportJoin> =>
  async (context, { name, mc_uuid: uuid, player_name }) => {
    const server = await findByAnyName(deps, name);
    const at = new Date();
    await deps.store.recordJoin(name, { uuid, name: player_name, at });
    await requestCount(deps, server, { context, at });
    return null;
  };

export const reportLeave =
  (deps: ServerDeps): Handler<typeof players.reportLeave> =>
  async (context, { name, mc_uuid: uuid, player_name, reason }) => {
    const server = await findByAnyName(deps, name);
    const at = new Date();
    await deps.store.recordLeave(name, { uuid, name: player_name, reason, at });
    await requestCount(deps, server, { context, at });
    return null;
  };

async function requestCount(
  deps: ServerDeps,
  server: Server,
  { context, at }: { context: { log: { warn: (fields: object, message: string) => void } }; at: Date },
): Promise<void> {
  const { name } = server.metadata;
  if (server.status?.phase !== "Running" || deps.countSoon(name)) return;
  const merge = { metadata: { annotations: { [annotation.countRequested]: at.toISOString() } } };
  // The leader sees it in its watch. Without it the next regular count shows the player.
  await deps.kube
    .patch(resource, { name, namespace: namespaceOf(server) }, { merge })
    .catch((error: Error) =>
      context.log.warn({ server: name, error: error.message }, "requesting a player count failed"),
    );
}
