import type { Handler } from "@svc/mesh";
import { accounts } from "@svc/proto";
import type { Server } from "../cluster/resource.ts";
import { callInChunks } from "./chunked-call.ts";
import { assertListed, type contracts, type ServerDeps } from "./deps.ts";
import { type OwnerFacts, toFleetServer, toServerInfo } from "./info.ts";

type Page = { items: Server[]; next: string | undefined };

/** The servers after a name, ordered by name. */
function pageOf(deps: ServerDeps, cursor: string | undefined): Page {
  assertListed(deps);
  const { servers, settings } = deps;
  const names = sortedNames(servers);
  const begin = cursor === undefined ? 0 : firstAfter(names, cursor);
  const items = names.slice(begin, begin + settings.list_page).flatMap((name) => servers.get(name) ?? []);
  const isMore = names.length > begin + settings.list_page;
  return { items, next: isMore ? items.at(-1)?.metadata.name : undefined };
}

type Names = { version: number; names: readonly string[] };
const sorted = new WeakMap<ServerDeps["servers"], Names>();

// Sorting 10,000 names costs more than a page of them, so the order is cached until a server is added or removed.
export function sortedNames(servers: ServerDeps["servers"]): readonly string[] {
  const known = sorted.get(servers);
  if (known?.version === servers.keysVersion) return known.names;
  const names = [...servers.keys()].sort();
  sorted.set(servers, { version: servers.keysVersion, names });
  return names;
}

export function firstAfter(names: readonly string[], name: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] ?? "") <= name) low = middle + 1;
    else high = middle;
  }
  return low;
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
    // Best effort: without identity the fleet is listed with unknown owners.
    const owners = await callInChunks(ids, async (user_ids) => {
      const { names, players } = await deps.mesh.call(accounts.nameAccounts, { user_ids }, context);
      const known = Object.entries(names).map(([id, name]) => [id, { name, players: players[id] ?? [] }]);
      return Object.fromEntries(known) as Record<string, OwnerFacts>;
    }).catch(() => undefined);
    const uuids = Object.values(owners ?? {}).flatMap(({ players }) => players);
    const playerNames = await deps.store.playerNames(uuids);
    const { auto_restarts: autoRestarts } = deps.settings;
    const callerId = context.principal.kind === "account" ? context.principal.user_id : "";
    const fleetRows = items.map((server) =>
      toFleetServer(server, {
        ...{ autoRestarts, callerId, owners, playerNames },
        row: rows.get(server.metadata.name),
      }),
    );
    return { items: fleetRows, ...(next !== undefined && { next }) };
  };
