import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { accounts } from "@svc/proto";

import { assertClaimable, claimServer } from "./claim-server.ts";
import type { contracts, OwnershipDeps } from "./deps.ts";

export const claimForPlayer =
  (deps: OwnershipDeps): Handler<typeof contracts.claimForPlayer> =>
  async (context, { name, mc_uuid }) => {
    const { fault: refuse } = context;
    await assertClaimable(deps, { name, refuse });
    const { account } = await deps.mesh.call(accounts.findLink, { mc_uuid }, context);
    if (!account) throw context.fault("not_linked");
    const accountId = account.user_id;
    const isStaff = account.role !== "user";
    const actor = { ...auditActor(context), actor_user_id: accountId };
    const audit = { ...actor, action: "server.claim", server_name: name, payload: { mc_uuid } };
    await claimServer(deps, { name, accountId, isStaff, audit, refuse, context });
    return { name, claimed: true };
  };
