import type { Handler } from "@svc/mesh";
import { type contracts, isSystem, type OwnershipDeps } from "./deps.ts";
import { toMyServerView } from "./my-server.ts";

export const listMine =
  (deps: OwnershipDeps): Handler<typeof contracts.listMine> =>
  async (context, { cursor }) => {
    const { principal } = context;
    if (principal.kind !== "account") throw context.fault("forbidden");
    const { list_page: limit, auto_restarts: autoRestarts } = deps.settings;
    const rows = await deps.lists.ownedOrClaimable(principal.user_id, cursor ?? "", limit);
    const isLive = deps.servers.isLive();
    const items = rows.flatMap((row) => {
      const server = isLive ? deps.servers.get(row.name) : undefined;
      const view = toMyServerView(row, server, { accountId: principal.user_id, autoRestarts });
      // A server without an object cannot be claimed, nor can a server of the platform.
      const isOffered = view.owned || !isLive || (server !== undefined && !isSystem(row.name, server));
      return isOffered ? [view] : [];
    });
    const next = rows.length === limit ? rows.at(-1)?.name : undefined;
    return { items, ...(next !== undefined && { next }) };
  };
