// What a saved filter may be (docs/reference/server-filters.md#operations). Pure.

import { serverFilters as contracts, maxTagLength, visibleName } from "@svc/proto";

export type Filter = Omit<contracts.ServerFilter, "id">;

type Read = { kind: "read"; filter: Filter } | { kind: "refused"; message: string };

/** The filter as it is stored: one line of visible characters each, and the tag as servers have it. */
export function readFilter({ name, search, show, tag, node, sort }: Filter): Read {
  const filter: Filter = {
    name: visibleName(name),
    search: visibleName(search),
    ...(show !== undefined && { show }),
    tag: visibleName(tag.normalize("NFC")).toLowerCase(),
    node: node.trim(),
    sort,
  };
  const message = problemOf(filter);
  return message === undefined ? { kind: "read", filter } : { kind: "refused", message };
}

function problemOf(filter: Filter): string | undefined {
  const { name, search, show, tag, node, sort } = filter;
  if (name === "") return "Give the filter a name.";
  if (name.length > contracts.longestFilterName)
    return `The name of a filter has at most ${contracts.longestFilterName} characters; this one has ${name.length}.`;
  if (search.length > contracts.longestSearch)
    return `A search has at most ${contracts.longestSearch} characters; this one has ${search.length}.`;
  if ([...tag].length > maxTagLength) return `A tag has at most ${maxTagLength} characters.`;
  const isEverything = search === "" && show === undefined && tag === "" && node === "" && sort === "name";
  return isEverything
    ? "Say what the filter finds: a search, a state, a tag, a node or an order."
    : undefined;
}
