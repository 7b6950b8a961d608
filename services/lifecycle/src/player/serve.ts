import type { Mesh } from "@svc/mesh";
import { players as contracts } from "@svc/proto";
import type { LifecycleStore } from "../database/schema.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";
import { createPlayerStore } from "./store.ts";

export function servePlayers(mesh: Pick<Mesh, "serve">, deps: ServerDeps, database: LifecycleStore): void {
  const store = createPlayerStore(database);
  const list = async () => ({ players: await store.list() });
  mesh.serve(contracts.reportPlayers, (_context, report) => store.report(report));
  mesh.serve(contracts.listForProxy, list);
  mesh.serve(contracts.list, list);
  mesh.serve(contracts.readName, async (_context, { mc_uuid }) => {
    const online = (await store.list()).find((player) => player.mc_uuid === mc_uuid);
    const name = online?.name ?? (await deps.store.playerNames([mc_uuid]))[mc_uuid];
    return { ...(name !== undefined && { name }) };
  });
  mesh.serve(contracts.invite, async (context, { mc_uuid, ...invitation }) => {
    await findByUserName(deps, invitation.server);
    const isThere = await store.invite({ ...invitation, to_uuid: mc_uuid });
    if (!isThere) throw context.fault("not_found", { message: "That player is not online." });
    return { id: invitation.id };
  });
}
