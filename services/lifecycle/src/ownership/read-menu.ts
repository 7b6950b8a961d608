import type { Handler } from "@svc/mesh";
import { isClaimable } from "../database/server-row.ts";
import { findByAnyName } from "../server/deps.ts";
import { toServerInfo } from "../server/info.ts";
import { isSystem } from "../server/server-ownership.ts";
import type { contracts, OwnershipDeps } from "./deps.ts";

export const readMenu =
  (deps: OwnershipDeps): Handler<typeof contracts.readMenu> =>
  async (_context, { name }) => {
    const server = await findByAnyName(deps, name);
    const row = await deps.store.find(name);
    const info = toServerInfo(server, deps.settings);
    const { phase, ready, playersOnline, playersMax } = info;
    const claimable = !isSystem(name, server) && isClaimable(row);
    return { name, phase, ready, playersOnline, playersMax, claimable };
  };
