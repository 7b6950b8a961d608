import { type EncodingHandler, encodedPage, type Handler } from "@svc/mesh";
import { rowFor, ServerInfo, serverRows } from "@svc/proto";
import type { Server } from "../cluster/resource.ts";
import { assertListed, type contracts, type ServerDeps } from "./deps.ts";
import { type InfoSettings, toServerInfo } from "./info.ts";
import { findOwnerNames } from "./owner-names.ts";
import { noOwnerNames, toOwnership } from "./server-ownership.ts";

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

const encodedInfos = new WeakMap<Server, Uint8Array>();

// The watch replaces a server that has changed, so that an object is a version.
function infoBytes(server: Server, settings: InfoSettings): Uint8Array {
  const kept = encodedInfos.get(server);
  if (kept) return kept;
  const bytes = Buffer.from(JSON.stringify(ServerInfo.parse(toServerInfo(server, settings))));
  encodedInfos.set(server, bytes);
  return bytes;
}

export const list =
  (deps: ServerDeps): EncodingHandler<typeof contracts.list> =>
  (_context, { cursor }) => {
    const { items, next } = pageOf(deps, cursor);
    return encodedPage(
      items.map((server) => infoBytes(server, deps.settings)),
      next,
    );
  };

export const fleet =
  (deps: ServerDeps): Handler<typeof contracts.fleet> =>
  async (context, { cursor }) => {
    const { items, next } = pageOf(deps, cursor);
    const rows = await deps.store.rowsOf(items.map(({ metadata }) => metadata.name));
    const ids = [...new Set([...rows.values()].flatMap(({ ownerId }) => ownerId ?? []))];
    // Best effort: without identity the fleet is listed with unknown owners.
    const playerNames = deps.store.playerNames;
    const names = await findOwnerNames({ mesh: deps.mesh, playerNames }, ids, context).catch(
      () => noOwnerNames,
    );
    const fleetRows = items.flatMap((server) => {
      const { name } = server.metadata;
      const ownership = toOwnership(
        { name, server, exists: true, row: rows.get(name), subdomain: undefined },
        names,
      );
      const entry = toServerInfo(server, deps.settings);
      return rowFor(serverRows.fleetRows, context.principal, { entry, beside: ownership }) ?? [];
    });
    return { items: fleetRows, ...(next !== undefined && { next }) };
  };
