// Saved filters and the two lists that they are used in (docs/reference/server-filters.md#use). Pure.

import type { Output } from "../api/operations.ts";
import { type ListView, filters as listFilters } from "../server/row.ts";
import type { FleetView } from "./fleet-view.ts";

export type SavedFilter = Output<"serverFilters.list">["filters"][number];
/** What a filter finds, without its name. */
export type Finds = Omit<SavedFilter, "id" | "name">;

export function findsOfFleet({ search, filter, sort, node, tag }: FleetView): Finds {
  return { search: search.trim(), ...(filter !== "all" && { show: filter }), sort, node, tag };
}

export function fleetViewOfFinds({ search, show, sort, node, tag }: Finds): FleetView {
  return { search, filter: show ?? "all", sort, node, tag };
}

export function findsOfList({ search, filter, sort, tag }: ListView): Finds {
  const show = filter === "all" ? {} : { show: filter };
  return { search: search.trim(), ...show, sort: sort === "status" ? "phase" : sort, node: "", tag };
}

/** Undefined for what only the list of staff can show: the own list would show something else under its name. */
export function listViewOfFinds({ search, show, sort, node, tag }: Finds): ListView | undefined {
  const filter = listFilters.find((one) => one === (show ?? "all"));
  if (filter === undefined || node !== "" || sort === "owner" || sort === "node") return undefined;
  return { search, filter, sort: sort === "phase" ? "status" : sort, tag };
}

export function isSameFinds(one: Finds, other: Finds): boolean {
  const { search, show, sort, node, tag } = one;
  const isSame = search === other.search && show === other.show && sort === other.sort;
  return isSame && node === other.node && tag === other.tag;
}

/** Whether there is something to save: it narrows the list, or orders it in another way. */
export function isSomething({ search, show, sort, node, tag }: Finds): boolean {
  return search !== "" || show !== undefined || sort !== "name" || node !== "" || tag !== "";
}
