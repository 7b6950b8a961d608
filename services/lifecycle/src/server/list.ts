import type { Handler } from "@svc/mesh";
import { accounts } from "@svc/proto";
import { assertListed, type contracts, type ServerDeps } from "./deps.ts";
import { toFleetServer, toServerInfo } from "./info.ts";
import type { Server } from "./resource.ts";

type Page = { items: Server[]; next: string | undefined };

/** Servers after a name, in order of name. The order is kept between pages as long as nothing comes or goes. */
function pageOf(deps: ServerDeps, cursor: string | undefined): Page {
  assertListed(deps);
  const { servers, settings } = deps;
  const after = cursor ?? "";
  const names = [...servers.keys()].filter((name) => name > after).sort();
  const items = names.slice(0, settings.list_page).flatMap((name) => servers.get(name) ?? []);
  const isMore = names.length > settings.list_page;
  return { items, next: isMore ? items.at(-1)?.metadata.name : undefined };
}

export const list =
  (deps: ServerDeps): Handler<typeof contracts.list> =>
  (_context, { cursor }) => {
    const { items, next } = pageOf(deps, cursor);
    const { auto_restarts: autoRestarts } = deps.settings;
    const infos = items.map((server) => toServerInfo(server, { autoRestarts }));
    return { items: infos, ...(next !== undefined && { next }) };
  };

export const fleet =
  (deps: ServerDeps): Handler<typeof contracts.fleet> =>
  async (context, { cursor }) => {
    const { items, next } = pageOf(deps, cursor);
    const rows = await deps.store.rowsOf(items.map(({ metadata }) => metadata.name));
    const ids = [...new Set([...rows.values()].flatMap(({ ownerId }) => ownerId ?? []))];
    // Best effort: without identity the fleet is shown, and says that owners are unknown.
    const names =
      ids.length === 0
        ? {}
        : await deps.mesh.call(accounts.nameAccounts, { user_ids: ids }, context).then(
            (answer) => answer.names,
            () => undefined,
          );
    const { auto_restarts: autoRestarts } = deps.settings;
    const callerId = context.principal.kind === "account" ? context.principal.user_id : "";
    const fleetRows = items.map((server) =>
      toFleetServer(server, { autoRestarts, callerId, names, row: rows.get(server.metadata.name) }),
    );
    return { items: fleetRows, ...(next !== undefined && { next }) };
  };
