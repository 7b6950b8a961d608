// Saved filters of the list of servers (docs/reference/server-filters.md#use).

import { type FleetServer, type InputOf, ownership, serverFilters, servers } from "@svc/proto";
import { connectExternal, type External } from "../account/external.ts";
import { type Outcome, table, UsageError } from "../output.ts";
import { filterText, findOwn, type MyServer, pickFilter } from "./filter-match.ts";

type Filter = serverFilters.ServerFilter;
type Options = { data: string; delete?: boolean } & Partial<Pick<Filter, "search" | "tag" | "node">> & {
    show?: Filter["show"];
    sort?: Filter["sort"];
  };

/** Without a name all of them; with one it is shown, saved as the options say, or deleted. */
export async function serverFilter(name: string | undefined, options: Options): Promise<Outcome> {
  const external = connectExternal(options.data);
  const { search, show, tag, node, sort } = options;
  const isSaving = [search, show, tag, node, sort].some((given) => given !== undefined);
  if (name === undefined) {
    if (isSaving || options.delete) throw new UsageError("name the filter");
    const found = await external.call(serverFilters.list, {});
    return { json: found, text: tableOf(found.filters) };
  }
  if (isSaving && options.delete) throw new UsageError("give --delete or what it finds, not both");
  if (isSaving) {
    const saved = await external.call(serverFilters.save, {
      ...{ name, search: search ?? "", show, tag: tag ?? "", node: node ?? "", sort: sort ?? "name" },
    });
    return { json: saved, text: `Saved ${saved.name}: ${filterText(saved)}.` };
  }
  const filter = await findFilter(external, name);
  if (!options.delete) return { json: filter, text: tableOf([filter]) };
  await external.call(serverFilters.remove, { id: filter.id });
  return { json: { id: filter.id }, text: `The filter ${filter.name} is deleted.` };
}

function tableOf(filters: readonly Filter[]): string {
  if (filters.length === 0) return "There are none.";
  return table([["NAME", "FINDS", "ID"], ...filters.map((one) => [one.name, filterText(one), one.id])]);
}

async function findFilter(external: External, name: string): Promise<Filter> {
  return pickFilter((await external.call(serverFilters.list, {})).filters, name);
}

/** The own servers that a filter finds, or all without one. */
export async function readOwn(external: External, name: string | undefined): Promise<MyServer[]> {
  const filter = name === undefined ? undefined : await findFilter(external, name);
  const { items } = await external.call(ownership.listMine, {});
  return filter ? findOwn(items, filter) : items;
}

const pageSize = 100;

/** The servers of the platform that a filter finds, page by page, or all without one. */
export async function readFleet(external: External, name: string | undefined): Promise<FleetServer[]> {
  if (name === undefined) return (await external.call(servers.fleet, {})).items;
  const { search, show, tag, node, sort } = await findFilter(external, name);
  const asked = {
    ...{ sort, order: sort === "players" ? ("desc" as const) : ("asc" as const) },
    ...(search !== "" && { query: search }),
    ...(show !== undefined && { filter: show }),
    ...(tag !== "" && { tag }),
    ...(node !== "" && { node }),
  };
  return readPages(external, asked);
}

/** All pages of the list of staff that match. */
export async function readPages(
  external: External,
  asked: Omit<InputOf<typeof servers.fleet>, "limit" | "offset">,
): Promise<FleetServer[]> {
  const found: FleetServer[] = [];
  for (let total = 1; found.length < total; ) {
    const page = await external.call(servers.fleet, { ...asked, limit: pageSize, offset: found.length });
    if (page.items.length === 0) break;
    found.push(...page.items);
    total = page.total ?? found.length;
  }
  return found;
}
