import type { Handler } from "@svc/mesh";
import { rowFor, serverRows } from "@svc/proto";
import { type contracts, findByAnyName, findByUserName, type ServerDeps } from "./deps.ts";
import { toServerInfo } from "./info.ts";
import { noOwnerNames, toOwnership } from "./server-ownership.ts";

export const readStatus =
  (deps: ServerDeps): Handler<typeof contracts.readStatus> =>
  async (_context, { name }) => {
    const server = await findByAnyName(deps, name);
    return toServerInfo(server, deps.settings);
  };

export const viewStatus =
  (deps: ServerDeps): Handler<typeof contracts.viewStatus> =>
  async (context, { name }) => {
    const server = await findByUserName(deps, name);
    const row = await deps.store.find(name);
    const ownership = toOwnership({ name, server, exists: true, row, subdomain: undefined }, noOwnerNames);
    const info = toServerInfo(server, deps.settings);
    const shown = rowFor(serverRows.statusRows, context.principal, { entry: info, beside: ownership });
    if (!shown) throw context.fault("not_found");
    return shown;
  };
