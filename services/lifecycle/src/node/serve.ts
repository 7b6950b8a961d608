import type { Mesh } from "@svc/mesh";
import { nodes } from "@svc/proto";
import type { ServerDeps } from "../server/deps.ts";
import { createListNodes } from "./list.ts";

export function serveNodes(mesh: Pick<Mesh, "serve">, deps: ServerDeps): void {
  mesh.serve(nodes.listNodes, createListNodes(deps));
}
