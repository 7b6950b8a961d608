import type { Mesh } from "@svc/mesh";
import type { ServerDeps } from "../server/deps.ts";

export function serveNodes(_mesh: Pick<Mesh, "serve">, _deps: ServerDeps): void {}
