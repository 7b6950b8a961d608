// Which server stands in which slot. A chest has six rows of nine: five of servers, the last one to turn pages.

const tilesPerPage = 45;
const previousSlot = 45;
const refreshSlot = 49;
const nextSlot = 53;

export type Page<T> = { readonly index: number; readonly count: number; readonly tiles: readonly T[] };

/** What a click on a slot means. */
export type Click =
  | { readonly kind: "server"; readonly position: number }
  | { readonly kind: "page"; readonly index: number }
  | { readonly kind: "refresh" | "nothing" };

/** The page of that number; one that no longer exists is the last there is. An empty list has one empty page. */
export function pageOf<T>(all: readonly T[], wanted: number): Page<T> {
  const count = Math.max(1, Math.ceil(all.length / tilesPerPage));
  const index = Math.min(Math.max(0, wanted), count - 1);
  return { index, count, tiles: all.slice(index * tilesPerPage, (index + 1) * tilesPerPage) };
}

/** Slots of the buttons that a page has. */
export function buttonsOf({ index, count }: Page<unknown>): {
  previous?: number;
  next?: number;
  refresh: number;
} {
  return {
    refresh: refreshSlot,
    ...(index > 0 ? { previous: previousSlot } : {}),
    ...(index < count - 1 ? { next: nextSlot } : {}),
  };
}

export function clickOf(page: Page<unknown>, slot: number): Click {
  const buttons = buttonsOf(page);
  if (Number.isInteger(slot) && slot >= 0 && slot < page.tiles.length)
    return { kind: "server", position: slot };
  if (slot === buttons.previous) return { kind: "page", index: page.index - 1 };
  if (slot === buttons.next) return { kind: "page", index: page.index + 1 };
  return { kind: slot === buttons.refresh ? "refresh" : "nothing" };
}
