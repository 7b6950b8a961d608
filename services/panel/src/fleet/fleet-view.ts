// What the address says about the list of all servers, and the requests that fill it. Pure.

import type { Input } from "../api/operations.ts";
import { findsRow, type ServerRow } from "../server/row.ts";

export const fleetSorts = ["name", "phase", "players", "owner", "node"] as const;
export const fleetFilters = ["all", "awake", "asleep", "attention", "failed", "unowned"] as const;

export type FleetView = {
  search: string;
  filter: (typeof fleetFilters)[number];
  sort: (typeof fleetSorts)[number];
  /** Servers of one node; empty for all. */
  node: string;
  /** Servers with one tag; empty for all. */
  tag: string;
};

export const everything: FleetView = { search: "", filter: "all", sort: "name", node: "", tag: "" };
export const pageSize = 100;

type Address = Readonly<Record<string, unknown>>;
const textOf = (value: unknown) =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

/** Reads the address; anything in it that means nothing counts as not there. */
export function fleetViewOf({ q, show, sort, node, tag }: Address): FleetView {
  return {
    search: textOf(q),
    filter: fleetFilters.find((name) => name === show) ?? "all",
    sort: fleetSorts.find((name) => name === sort) ?? "name",
    node: textOf(node).slice(0, 253),
    tag: textOf(tag).slice(0, 64),
  };
}

export function addressOf({ search, filter, sort, node, tag }: FleetView): Record<string, string> {
  return {
    ...(search !== "" && { q: search }),
    ...(filter !== "all" && { show: filter }),
    ...(sort !== "name" && { sort }),
    ...(node !== "" && { node }),
    ...(tag !== "" && { tag }),
  };
}

/** The request for one page; 0 is the first. */
export function requestOf(view: FleetView, page: number): Input<"servers.fleet"> {
  const { search, filter, sort, node, tag } = view;
  const query = search.trim().slice(0, 100);
  return {
    limit: pageSize,
    offset: page * pageSize,
    sort,
    order: sort === "players" ? "desc" : "asc",
    ...(query !== "" && { query }),
    ...(filter !== "all" && { filter }),
    ...(node !== "" && { node }),
    ...(tag !== "" && { tag }),
  };
}

type Searched = { typed: string; answered: string };

/** The rows of a search that goes on, from those of an earlier one: at once where all of them are at hand. */
export function narrowRows(
  rows: readonly (ServerRow | undefined)[],
  { typed, answered }: Searched,
): readonly (ServerRow | undefined)[] {
  const isNarrower =
    typed !== answered && typed.trim().toLowerCase().startsWith(answered.trim().toLowerCase());
  if (!isNarrower || rows.includes(undefined)) return rows;
  const isFound = findsRow(typed);
  return rows.filter((row) => row !== undefined && isFound(row));
}

const mostPagesInSight = 4;

/** The pages that hold these rows; the first one is always among them, because it knows the total. */
export function pagesFor(first: number, last: number): number[] {
  const from = Math.floor(first / pageSize);
  const to = Math.min(Math.floor(last / pageSize), from + mostPagesInSight - 1);
  const inSight = Array.from({ length: Math.max(1, to - from + 1) }, (_, n) => from + n);
  return inSight.includes(0) ? inSight : [0, ...inSight];
}

/** Rows of all pages in their places; what was not read yet is undefined. */
export function rowsInPlace<Row>(
  total: number,
  pages: readonly { page: number; rows: readonly Row[] | undefined }[],
): (Row | undefined)[] {
  const rows = new Array<Row | undefined>(total).fill(undefined);
  for (const { page, rows: read = [] } of pages) {
    for (const [at, row] of read.entries()) {
      if (page * pageSize + at < total) rows[page * pageSize + at] = row;
    }
  }
  return rows;
}
