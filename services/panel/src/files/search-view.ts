// A search of files as the address has it, so that it can be gone back to. Pure.

import type { Input } from "../api/operations.ts";

type SearchPlace = NonNullable<Input<"files.search">["in"]>;

export type SearchView = { text: string; place: SearchPlace; matchesCase: boolean };

export const longestText = 200;

/** Undefined when the address is not one of a search. */
export function searchViewOf(search: Readonly<Record<string, unknown>>): SearchView | undefined {
  const { find, in: place, case: matchesCase } = search;
  if (find === undefined || find === null || typeof find === "object") return undefined;
  return {
    text: String(find).slice(0, longestText),
    place: place === "names" || place === "content" ? place : "both",
    matchesCase: matchesCase === "yes",
  };
}

/** The part of the address behind `?`. */
export function searchAddressOf(folder: string, view: SearchView): Record<string, string> {
  return {
    ...(folder !== "" && { path: folder }),
    find: view.text,
    ...(view.place !== "both" && { in: view.place }),
    ...(view.matchesCase && { case: "yes" }),
  };
}

export const firstSearch: SearchView = { text: "", place: "both", matchesCase: false };
