import type { Mesh } from "@svc/mesh";
import { createSemaphore } from "@svc/service/semaphore";
import type { LifecycleStore } from "../database/schema.ts";
import type { ServerDeps } from "../server/deps.ts";
import { countOwned, releaseAccount, transferAccount } from "./accounts.ts";
import { cancelRetirement } from "./cancel-retirement.ts";
import { changeAllowlist } from "./change-allowlist.ts";
import { claim } from "./claim.ts";
import { claimForPlayer } from "./claim-for-player.ts";
import { contracts, type OwnershipDeps } from "./deps.ts";
import { listActivity } from "./list-activity.ts";
import { listAllowlist } from "./list-allowlist.ts";
import { listMine } from "./list-mine.ts";
import { createListStore } from "./list-store.ts";
import { patchMine } from "./patch-mine.ts";
import { readMenu } from "./read-menu.ts";
import { readMenuAccess } from "./read-menu-access.ts";
import { readMyQuota } from "./read-my-quota.ts";
import { retire } from "./retire.ts";
import { createOwnershipStore } from "./store.ts";

export function serveOwnership(
  mesh: Pick<Mesh, "serve">,
  servers: ServerDeps,
  database: LifecycleStore,
): void {
  const deps: OwnershipDeps = {
    ...servers,
    ownership: createOwnershipStore(database),
    lists: createListStore(database),
    limitClaims: createSemaphore(servers.settings.max_claims).run,
  };
  mesh.serve(contracts.claimForPlayer, claimForPlayer(deps));
  mesh.serve(contracts.claim, claim(deps));
  mesh.serve(contracts.retire, retire(deps));
  mesh.serve(contracts.cancelRetirement, cancelRetirement(deps));
  mesh.serve(contracts.listAllowlist, listAllowlist(deps));
  mesh.serve(contracts.changeAllowlist, changeAllowlist(deps));
  mesh.serve(contracts.readMenu, readMenu(deps));
  mesh.serve(contracts.readMenuAccess, readMenuAccess(deps));
  mesh.serve(contracts.listMine, listMine(deps));
  mesh.serve(contracts.patchMine, patchMine(deps));
  mesh.serve(contracts.readMyQuota, readMyQuota(deps));
  mesh.serve(contracts.listActivity, listActivity(deps));
  mesh.serve(contracts.releaseAccount, releaseAccount(deps));
  mesh.serve(contracts.transferAccount, transferAccount(deps));
  mesh.serve(contracts.countOwned, countOwned(deps));
}
