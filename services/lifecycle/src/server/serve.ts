// Table of contents: which handler answers which contract.

import type { Mesh } from "@svc/mesh";
import { players } from "@svc/proto";
import type { LifecycleStore } from "../database/schema.ts";
import { serveNodes } from "../node/serve.ts";
import { serveOwnership } from "../ownership/serve.ts";
import { servePlayers } from "../player/serve.ts";
import { serveWorlds } from "../world/serve.ts";
import { create } from "./create.ts";
import { contracts, type ServerDeps } from "./deps.ts";
import { fleet, list } from "./list.ts";
import { patch } from "./patch.ts";
import { readStatus, viewStatus } from "./read-status.ts";
import { ready } from "./ready.ts";
import { reportJoin, reportLeave, reportReady } from "./report.ts";
import { stop } from "./stop.ts";
import { wake } from "./wake.ts";
import { wakeForPlayer } from "./wake-for-player.ts";

export function serveAll(mesh: Pick<Mesh, "serve">, deps: ServerDeps, database: LifecycleStore): void {
  serveServers(mesh, deps);
  serveOwnership(mesh, deps, database);
  serveNodes(mesh, deps);
  servePlayers(mesh, deps, database);
  serveWorlds(mesh, deps, database);
}

function serveServers(mesh: Pick<Mesh, "serve">, deps: ServerDeps): void {
  mesh.serve(contracts.ready, ready(deps));
  mesh.serve(contracts.list, list(deps));
  mesh.serve(contracts.readStatus, readStatus(deps));
  mesh.serve(contracts.wakeForPlayer, wakeForPlayer(deps));
  mesh.serve(contracts.reportReady, reportReady(deps));
  mesh.serve(contracts.reportJoin, reportJoin(deps));
  mesh.serve(players.reportLeave, reportLeave(deps));
  mesh.serve(contracts.create, create(deps));
  mesh.serve(contracts.patch, patch(deps));
  mesh.serve(contracts.fleet, fleet(deps));
  mesh.serve(contracts.viewStatus, viewStatus(deps));
  mesh.serve(contracts.wake, wake(deps));
  mesh.serve(contracts.stop, stop(deps));
}
