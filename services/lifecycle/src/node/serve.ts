import type { Mesh } from "@svc/mesh";
import { nodes } from "@svc/proto";
import type { ServerDeps } from "../server/deps.ts";
import { setCordon } from "./cordon.ts";
import { createListNodes, readRoom } from "./list.ts";
import { placeUnstarted } from "./place-unstarted.ts";

export function serveNodes(mesh: Pick<Mesh, "serve">, deps: ServerDeps): void {
  mesh.serve(nodes.listNodes, createListNodes(deps));
  mesh.serve(nodes.readRoom, readRoom(deps));
  mesh.serve(nodes.cordon, setCordon(deps, true));
  mesh.serve(nodes.uncordon, setCordon(deps, false));
  mesh.serve(nodes.placeUnstarted, placeUnstarted(deps));
}
