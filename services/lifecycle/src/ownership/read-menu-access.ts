import type { Handler } from "@svc/mesh";
import { accounts } from "@svc/proto";
import { assertListed } from "../server/deps.ts";
import { isSystem } from "../server/server-ownership.ts";
import type { contracts, OwnershipDeps } from "./deps.ts";
import { type MenuVerdict, verdictOf } from "./menu-policy.ts";

export const readMenuAccess =
  (deps: OwnershipDeps): Handler<typeof contracts.readMenuAccess> =>
  async (context, { mc_uuid }) => {
    assertListed(deps);
    const { account } = await deps.mesh.call(accounts.findLink, { mc_uuid }, context);
    const names = await deps.lists.menuNames(mc_uuid, account?.user_id);
    const isStaff = account?.role === "admin" || account?.role === "owner";
    const about = { isStaff, autoRestarts: deps.settings.auto_restarts };
    const servers: Record<string, MenuVerdict> = {};
    for (const server of deps.servers.list()) {
      const { name } = server.metadata;
      if (isSystem(name, server)) continue;
      const facts = {
        isRetiring: names.retiring.has(name),
        isOwned: names.owned.has(name),
        hasPower: names.shared.has(name),
        isListed: names.listed.has(name),
      };
      servers[name] = verdictOf(server, facts, about);
    }
    return { servers };
  };
