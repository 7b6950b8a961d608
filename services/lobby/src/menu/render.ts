// The chest that a player sees: one item a slot.

import type { Text } from "@svc/minecraft";
import { type Say, type Sentence, sayDuration } from "@svc/proto/language";
import { texts } from "../texts.ts";
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

export function renderPage(page: Page<Server>, say: Say): MenuItem[] {
  const { previous, next, refresh } = buttonsOf(page);
  const button = (slot: number | undefined, { item, name }: { item: string; name: Sentence }): MenuItem[] =>
    slot === undefined ? [] : [{ slot, item, name: upright(say(name), "white"), lore: [] }];
  return [
    ...page.tiles.map((server, slot) => renderTile(server, slot, say)),
    ...button(previous, { item: "arrow", name: texts.previous }),
    ...button(refresh, { item: "clock", name: texts.refresh }),
    ...button(next, { item: "arrow", name: texts.next }),
  ];
}

function renderTile(server: Server, slot: number, say: Say): MenuItem {
  const tile = tileOf(server);
  const { item, color } = looks[tile.label];
  const lore = [
    upright(say(texts[tile.label]), color),
    upright(stateOf(server, say), "gray"),
    ...(tile.label === "start" && tile.isClaimable ? [upright(say(texts.claimHint), "gold")] : []),
    ...(tile.label === "blocked" ? [upright(say(texts.reasons[tile.obstacle]), "red")] : []),
  ];
  return { slot, item, name: upright(server.name, "white"), lore };
}

function stateOf({ status }: Server, say: Say): string {
  if (!status) return say(texts.asking);
  if (status.isReady) return say(texts.players, { online: status.playersOnline, max: status.playersMax });
  const phase = Object.entries(texts.phases).find(([phase]) => phase === status.phase)?.[1];
  const word = phase ? say(phase) : status.phase;
  const sentence = status.phase === "Starting" ? texts.readyInAbout : texts.startsInAbout;
  const { startSeconds } = status;
  if (startSeconds === undefined || status.phase === "Failed") return word;
  return say(sentence, { phase: word, time: sayDuration(startSeconds, say) });
}

// Names and lore of items are in italics unless told otherwise.
function upright(text: string, color: string): Text {
  return { text, color, italic: false };
}
