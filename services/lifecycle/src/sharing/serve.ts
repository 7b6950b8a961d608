import type { Mesh } from "@svc/mesh";
import { members as contracts } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { LifecycleStore } from "../database/schema.ts";
import type { ServerDeps } from "../server/deps.ts";
import { createAttemptBudget } from "./attempt-budget.ts";
import type { SharingDeps } from "./deps.ts";
import { invite, revoke } from "./invite.ts";
import { change, leave, list, listSharedWith, readMine, readSharing, remove } from "./members.ts";
import { accept, decline, listOffers, look } from "./offers.ts";
import { createSharingStore } from "./store.ts";
import { startSweepingAccess } from "./sweep.ts";

type Needs = { mesh: Pick<Mesh, "serve">; servers: ServerDeps; database: LifecycleStore; log: Logger };

export function startSharing({ mesh, servers, database, log }: Needs): { close: () => Promise<void> } {
  const { settings } = servers;
  const sharing = createSharingStore(database);
  const attempts = createAttemptBudget(database, settings.invitation_attempts);
  const deps: SharingDeps = { ...servers, sharing, attempts };
  mesh.serve(contracts.list, list(deps));
  mesh.serve(contracts.invite, invite(deps));
  mesh.serve(contracts.revoke, revoke(deps));
  mesh.serve(contracts.change, change(deps));
  mesh.serve(contracts.remove, remove(deps));
  mesh.serve(contracts.readMine, readMine(deps));
  mesh.serve(contracts.leave, leave(deps));
  mesh.serve(contracts.listOffers, listOffers(deps));
  mesh.serve(contracts.look, look(deps));
  mesh.serve(contracts.accept, accept(deps));
  mesh.serve(contracts.decline, decline(deps));
  mesh.serve(contracts.listSharedWith, listSharedWith(deps));
  mesh.serve(contracts.readSharing, readSharing(deps));
  return startSweepingAccess({ database, sharing, settings, log });
}
