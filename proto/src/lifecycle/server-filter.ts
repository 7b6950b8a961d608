// What an account looks for in its list of servers, under a name (docs/reference/server-filters.md).

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { FleetFilter, FleetSort } from "./server-rows.ts";

/** Filters that one account may have. */
export const mostFilters = 20;
/** Characters of a name, of a search and of the name of a node. */
export const longestFilterName = 64;
export const longestSearch = 100;
const longestNode = 253;

export const ServerFilter = z.strictObject({
  id: z.string(),
  name: z.string(),
  /** Words that are all in the names, the owner or a tag; empty for all servers. */
  search: z.string(),
  show: FleetFilter.optional(),
  /** As it is stored: in lower case; empty for all. */
  tag: z.string(),
  /** Empty for all; only the list of staff knows nodes. */
  node: z.string(),
  sort: FleetSort,
});
export type ServerFilter = z.output<typeof ServerFilter>;

const spec = "docs/reference/server-filters.md#operations";
const path = "/api/v1/me/server-filters";
const own = { face: "external", tier: "app" } as const;

export const list = operation({
  subject: "lifecycle.server-filter.list",
  http: { ...own, method: "GET", path },
  output: z.strictObject({ filters: z.array(ServerFilter), limit: z.int() }),
  summary: "The caller's saved filters of the list of servers, by name.",
  spec,
});

export const save = operation({
  subject: "lifecycle.server-filter.save",
  http: { ...own, method: "PUT", path },
  body: {
    name: z.string().max(256),
    search: z.string().max(256).default(""),
    show: FleetFilter.optional(),
    tag: z.string().max(256).default(""),
    node: z.string().max(longestNode).default(""),
    sort: FleetSort.default("name"),
  },
  output: ServerFilter,
  faults: ["bad_filter", "filter_limit"],
  idempotent: true,
  summary: "Saves a filter under a name; one of the same name is replaced.",
  spec,
});

export const remove = operation({
  subject: "lifecycle.server-filter.remove",
  http: { ...own, method: "DELETE", path: `${path}/{id}`, status: 204 },
  params: { id: z.string().min(1).max(64) },
  output: nothing,
  idempotent: true,
  summary: "Deletes a saved filter; nothing changes where it is not there.",
  spec,
});
