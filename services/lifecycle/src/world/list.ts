import type { Handler } from "@svc/mesh";
import { servers as resource, type Server } from "../cluster/resource.ts";
import { assertListed } from "../server/deps.ts";
import { firstAfter, sortedNames } from "../server/list.ts";
import type { contracts, WorldDeps } from "./deps.ts";
import type { WorldRow } from "./store.ts";
import { toWorldServer } from "./world-server.ts";

/** From this replica's copy of the cluster, so `stopped` ignores pods: describe a server before acting on its world. */
export const listWorlds =
  (deps: WorldDeps): Handler<typeof contracts.listWorlds> =>
  async (_context, { cursor = "" }) => {
    assertListed(deps);
    const { list_page: limit } = deps.settings;
    const rows = await deps.worlds.page(cursor, limit);
    const names = sortedNames(deps.servers);
    const begin = firstAfter(names, cursor);
    const all = new Set([...rows.keys(), ...names.slice(begin, begin + limit)]);
    const page = [...all].sort().slice(0, limit);
    const items = await Promise.all(page.map((name) => viewOf(deps, name, rows.get(name))));
    const next = all.size > page.length || page.length === limit ? page.at(-1) : undefined;
    return { items: items.flatMap((item) => item ?? []), ...(next !== undefined && { next }) };
  };

async function viewOf(deps: WorldDeps, name: string, row: WorldRow | undefined) {
  const server = deps.servers.get(name) ?? (await findMissing(deps, name));
  // A page has room for rows, not for whom they are shared with; nobody is let in by this list.
  const alone = row && { ...row, members: undefined };
  return server || row ? toWorldServer(name, { server, row: alone, hasPod: false }) : undefined;
}

// Our copy may be stale; an object counts as gone only when the cluster confirms it.
function findMissing({ kube, namespace }: WorldDeps, name: string): Promise<Server | undefined> {
  return kube.find(resource, { name, namespace });
}
