import type { Mesh } from "@svc/mesh";
import type { ServerDeps } from "../server/deps.ts";

export function serveWorlds(_mesh: Pick<Mesh, "serve">, _deps: ServerDeps): void {}
