import type { Mesh } from "@svc/mesh";
import type { ServerDeps } from "../server/deps.ts";

export function serveOwnership(_mesh: Pick<Mesh, "serve">, _deps: ServerDeps): void {}
