// One page of a list, searched, filtered and sorted (docs/reference/http.md#pages): pure.

import type { Listed, Operation } from "@svc/proto";
import type { Fields } from "../request/input.ts";

/** What a caller asks of a list. */
export type PageRequest = {
  limit: number;
  offset: number;
  selection: Selection;
};

/** `key` is equal for equal selections. */
type Selection = {
  key: string;
  words: readonly string[];
  filters: readonly (readonly [parameter: string, value: string])[];
  sort: string | undefined;
  isDescending: boolean;
};

const usualLimit = 20;

/** Reads a page from the input of a list; undefined without any of its parameters: then the list is whole. */
export function pageReader(contract: Pick<Operation, "query">): (input: Fields) => PageRequest | undefined {
  const names = Object.keys(contract.query.shape).filter((name) => name !== "cursor");
  return (input) => {
    const given = names.filter((name) => input[name] !== undefined);
    if (given.length === 0) return undefined;
    const { limit = usualLimit, offset = 0, query = "", sort, order } = input;
    const words = String(query).toLowerCase().split(/\s+/).filter(Boolean);
    const filters = given
      .filter((name) => !pageFields.has(name))
      .map((name) => [name, String(input[name])] as const);
    const wanted = { words, filters, sort: sort as string | undefined, isDescending: order === "desc" };
    const selection = { ...wanted, key: JSON.stringify(wanted) };
    return { limit: Number(limit), offset: Number(offset), selection };
  };
}

const pageFields: ReadonlySet<string> = new Set(["limit", "offset", "query", "sort", "order"]);

/** An entry of a list and where it stands in it. */
export type ListedEntry<Entry> = { entry: Entry; listed: Listed };
export type ListIndex<Entry> = { select: (selection: Selection) => readonly Entry[] };

const keptSelections = 16;

/** Prepares entries that are in the order of their names. Their texts are in lower case. */
export function createListIndex<Entry>(entries: readonly ListedEntry<Entry>[]): ListIndex<Entry> {
  const sorted = new Map<string, readonly ListedEntry<Entry>[]>();
  const selected = new Map<string, readonly Entry[]>();
  const inOrder = (sort: string | undefined, isDescending: boolean) => {
    const key = `${sort ?? ""} ${isDescending}`;
    const known = sorted.get(key) ?? sortEntries(entries, sort, isDescending);
    sorted.set(key, known);
    return known;
  };
  return {
    select: ({ key, words, filters, sort, isDescending }) => {
      const known = selected.get(key);
      if (known) return known;
      const isFound = ({ listed }: ListedEntry<Entry>) =>
        words.every((word) => listed.text.includes(word)) &&
        filters.every(([name, value]) => listed.filters[name]?.includes(value));
      const isAll = filters.length === 0 && words.length === 0;
      const candidates = inOrder(sort, isDescending);
      const found = (isAll ? candidates : candidates.filter(isFound)).map(({ entry }) => entry);
      const [oldest] = selected.keys();
      if (selected.size >= keptSelections && oldest !== undefined) selected.delete(oldest);
      selected.set(key, found);
      return found;
    },
  };
}

function sortEntries<Entry>(
  entries: readonly ListedEntry<Entry>[],
  sort: string | undefined,
  isDescending: boolean,
): readonly ListedEntry<Entry>[] {
  // Names have no key: the entries are in their order.
  if (sort === undefined || entries[0]?.listed.sorts[sort] === undefined)
    return isDescending ? entries.toReversed() : entries;
  const keyed = entries.map((entry) => ({ entry, key: entry.listed.sorts[sort] ?? "" }));
  const sign = isDescending ? -1 : 1;
  keyed.sort((left, right) => {
    if (left.key === right.key) return 0;
    return left.key < right.key ? -sign : sign;
  });
  return keyed.map(({ entry }) => entry);
}

/** A key by which names sort as people count: `srv-9` comes before `srv-10`. */
export function nameKey(name: string): string {
  return name.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(20, "0"));
}

export function inLowerCase(listed: Listed): Listed {
  return { ...listed, text: listed.text.toLowerCase() };
}
