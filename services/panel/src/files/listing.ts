import type { Output } from "../api/operations.ts";

/** A page of a folder: its names from one on, in their order (docs/reference/files.md#operations). */
export type Listing = Output<"files.list">;

/** Where the next page begins, while there is one that brings something further. */
export function lastNameOf(page: Listing, _pages: unknown, from: string | undefined): string | undefined {
  const last = page.entries.at(-1)?.name;
  return page.truncated && last !== from ? last : undefined;
}

/** Pages as one, each name once: a page begins with the last name of the one before. */
export function mergePages({ pages }: { pages: readonly Listing[] }): Listing {
  const [first, ...others] = pages;
  if (first === undefined) throw new Error("there is always a first page");
  let whole = first;
  for (const page of others) {
    const last = whole.entries.at(-1)?.name ?? "";
    const entries = [...whole.entries, ...page.entries.filter(({ name }) => name > last)];
    whole = { ...page, entries };
  }
  return whole;
}
