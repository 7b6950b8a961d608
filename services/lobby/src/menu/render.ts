// The chest that a player sees: one item a slot.

import type { Text } from "@svc/minecraft";
import type { Texts } from "../texts.ts";
import { buttonsOf, type Page } from "./page.ts";
import { type Server, type Tile, tileOf } from "./tile.ts";

export type MenuItem = {
  readonly slot: number;
  /** minecraft-data's name of the item. */
  readonly item: string;
  readonly name: Text;
  readonly lore: readonly Text[];
};

const looks: Readonly<Record<Tile["label"], { item: string; color: string }>> = {
  join: { item: "lime_concrete", color: "green" },
  claim: { item: "gold_block", color: "gold" },
  start: { item: "light_blue_concrete", color: "aqua" },
  blocked: { item: "gray_concrete", color: "gray" },
};

export function renderPage(page: Page<Server>, words: Texts): MenuItem[] {
  const { previous, next, refresh } = buttonsOf(page);
  const button = (slot: number | undefined, { item, name }: { item: string; name: string }): MenuItem[] =>
    slot === undefined ? [] : [{ slot, item, name: upright(name, "white"), lore: [] }];
  return [
    ...page.tiles.map((server, slot) => renderTile(server, slot, words)),
    ...button(previous, { item: "arrow", name: words.previous }),
    ...button(refresh, { item: "clock", name: words.refresh }),
    ...button(next, { item: "arrow", name: words.next }),
  ];
}

function renderTile(server: Server, slot: number, words: Texts): MenuItem {
  const tile = tileOf(server);
  const { item, color } = looks[tile.label];
  const lore = [
    upright(words[tile.label], color),
    upright(stateOf(server, words), "gray"),
    ...(tile.label === "start" && tile.isClaimable ? [upright(words.claimHint, "gold")] : []),
    ...(tile.label === "blocked" ? [upright(words.reasons[tile.obstacle], "red")] : []),
  ];
  return { slot, item, name: upright(server.name, "white"), lore };
}

function stateOf({ status }: Server, words: Texts): string {
  if (!status) return words.asking;
  if (status.isReady) return words.players(status.playersOnline, status.playersMax);
  return Object.entries(words.phases).find(([phase]) => phase === status.phase)?.[1] ?? status.phase;
}

// Names and lore of items are in italics unless told otherwise.
function upright(text: string, color: string): Text {
  return { text, color, italic: false };
}
