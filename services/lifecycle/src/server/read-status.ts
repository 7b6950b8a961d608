import type { Handler } from "@svc/mesh";
import { type contracts, findByAnyName, findByUserName, type ServerDeps } from "./deps.ts";
import { toPublicInfo, toServerInfo } from "./info.ts";

export const readStatus =
  (deps: ServerDeps): Handler<typeof contracts.readStatus> =>
  async (_context, { name }) => {
    const server = await findByAnyName(deps, name);
    return toServerInfo(server, { autoRestarts: deps.settings.auto_restarts });
  };

export const viewStatus =
  (deps: ServerDeps): Handler<typeof contracts.viewStatus> =>
  async (context, { name }) => {
    const server = await findByUserName(deps, name);
    const { principal } = context;
    const row = await deps.store.find(name);
    const autoRestarts = deps.settings.auto_restarts;
    const isStaff = principal.kind === "account" && principal.staff;
    const isOwner = principal.kind === "account" && row?.ownerId === principal.user_id;
    if (isStaff || isOwner) return toServerInfo(server, { autoRestarts, ...(row && { row }) });
    return toPublicInfo(toServerInfo(server, { autoRestarts }));
  };
