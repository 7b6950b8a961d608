import type { Mesh } from "@svc/mesh";
import type { LifecycleStore } from "../database/schema.ts";
import type { ServerDeps } from "../server/deps.ts";
import { restartIdleClock, stampWarning } from "./clocks.ts";
import { contracts, type WorldDeps } from "./deps.ts";
import { describeServer } from "./describe.ts";
import { holdWorld } from "./hold.ts";
import { readLastStart } from "./last-start.ts";
import { listWorlds } from "./list.ts";
import { releaseWorld } from "./release.ts";
import { resumeServer } from "./resume.ts";
import { createWorldStore } from "./store.ts";
import { switchWorld } from "./switch.ts";

export function serveWorlds(mesh: Pick<Mesh, "serve">, servers: ServerDeps, database: LifecycleStore): void {
  const deps: WorldDeps = { ...servers, worlds: createWorldStore(database) };
  mesh.serve(contracts.describeServer, describeServer(deps));
  mesh.serve(contracts.readLastStart, readLastStart(database));
  mesh.serve(contracts.listWorlds, listWorlds(deps));
  mesh.serve(contracts.holdWorld, holdWorld(deps));
  mesh.serve(contracts.resumeServer, resumeServer(deps));
  mesh.serve(contracts.releaseWorld, releaseWorld(deps));
  mesh.serve(contracts.stampWarning, stampWarning(deps));
  mesh.serve(contracts.restartIdleClock, restartIdleClock(deps));
  mesh.serve(contracts.switchWorld, switchWorld(deps));
}
