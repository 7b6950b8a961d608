import type { Handler } from "@svc/mesh";
import { rowFor, serverRows } from "@svc/proto";
import { toServerInfo } from "../server/info.ts";
import { noOwnerNames, toOwnership } from "../server/server-ownership.ts";
import type { contracts, OwnershipDeps } from "./deps.ts";

export const listMine =
  (deps: OwnershipDeps): Handler<typeof contracts.listMine> =>
  async (context, { cursor }) => {
    const { principal } = context;
    if (principal.kind !== "account") throw context.fault("forbidden");
    const { list_page: limit } = deps.settings;
    const rows = await deps.lists.ownedOrClaimable(principal.user_id, cursor ?? "", limit);
    const isLive = deps.servers.isLive();
    const items = rows.flatMap(({ name, subdomain, row }) => {
      const server = isLive ? deps.servers.get(name) : undefined;
      // Without the cluster nobody knows, and the claim will tell.
      const exists = !isLive || server !== undefined;
      const ownership = toOwnership({ name, server, exists, row, subdomain }, noOwnerNames);
      const info = server && toServerInfo(server, deps.settings);
      return rowFor(serverRows.myRows, principal, { entry: ownership, beside: info }) ?? [];
    });
    const next = rows.length === limit ? rows.at(-1)?.name : undefined;
    return { items, ...(next !== undefined && { next }) };
  };
