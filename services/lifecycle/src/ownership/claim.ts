import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { accounts } from "@svc/proto";

import { assertClaimable, claimServer } from "./claim-server.ts";
import type { contracts, OwnershipDeps } from "./deps.ts";

export const claim =
  (deps: OwnershipDeps): Handler<typeof contracts.claim> =>
  async (context, { name }) => {
    const { principal, fault: refuse } = context;
    if (principal.kind !== "account") throw context.fault("forbidden");
    await assertClaimable(deps, { name, refuse });
    const accountId = principal.user_id;
    const { mc_uuids } = await deps.mesh.call(accounts.listLinks, { user_id: accountId }, context);
    if (mc_uuids.length === 0) throw context.fault("not_linked");
    const audit = { ...auditActor(context), action: "server.claim", server_name: name };
    await claimServer(deps, { name, accountId, isStaff: principal.staff, audit, refuse, context });
    return { name, claimed: true };
  };
