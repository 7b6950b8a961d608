import type { Mesh } from "@svc/mesh";
import { players, tags } from "@svc/proto";
import { contracts, type ServerDeps } from "./deps.ts";
import { findPlayers } from "./find-players.ts";
import { fleet, list } from "./list.ts";
import { listImages } from "./list-images.ts";
import { patch } from "./patch.ts";
import { readStatus, viewStatus } from "./read-status.ts";
import { ready } from "./ready.ts";
import { reportJoin, reportLeave, reportReady } from "./report.ts";
import { stop } from "./stop.ts";
import { writeTags } from "./tags.ts";
import { wake } from "./wake.ts";
import { wakeForPlayer } from "./wake-for-player.ts";

export function serveServers(mesh: Pick<Mesh, "serve">, deps: ServerDeps): void {
  mesh.serve(contracts.ready, ready(deps));
  mesh.serve(contracts.list, list(deps));
  mesh.serve(contracts.listImages, listImages(deps));
  mesh.serve(contracts.readStatus, readStatus(deps));
  mesh.serve(contracts.wakeForPlayer, wakeForPlayer(deps));
  mesh.serve(contracts.reportReady, reportReady(deps));
  mesh.serve(contracts.reportJoin, reportJoin(deps));
  mesh.serve(players.reportLeave, reportLeave(deps));
  mesh.serve(players.findByName, findPlayers(deps));
  mesh.serve(contracts.patch, patch(deps));
  mesh.serve(contracts.fleet, fleet(deps));
  mesh.serve(contracts.viewStatus, viewStatus(deps));
  mesh.serve(contracts.wake, wake(deps));
  mesh.serve(contracts.stop, stop(deps));
  mesh.serve(tags.write, writeTags(deps));
}
