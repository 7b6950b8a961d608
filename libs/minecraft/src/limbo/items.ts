import { type Text, textNbt } from "../packet/text.ts";
import type { Version } from "../version/catalog.ts";
import { bool, string, ushort, varint } from "../wire/bytes.ts";
import type { ChestItem } from "./limbo.ts";
import { sceneryOf } from "./world.ts";

/** Component numbers move with almost every version. */
function componentId(version: Version, name: string): Buffer {
  const id = sceneryOf(version).components.get(name);
  if (id === undefined) throw new TypeError(`${version.label} has no item component ${name}`);
  return varint(id);
}

function slot(version: Version, item: { name: string; count: number; added: readonly Buffer[] }): Buffer {
  const id = sceneryOf(version).items.get(item.name);
  if (id === undefined) throw new TypeError(`${version.label} has no item ${item.name}`);
  return Buffer.concat([varint(item.count), varint(id), varint(item.added.length), varint(0), ...item.added]);
}

/** The two packets that draw a chest: the window and its content. The player's own slots stay empty. */
export function chestPackets(
  version: Version,
  chest: { windowId: number; title: Text; rows: number; items: readonly ChestItem[] },
): Buffer[] {
  if (!Number.isInteger(chest.rows) || chest.rows < 1 || chest.rows > 6)
    throw new RangeError("a chest has 1 to 6 rows");
  const slots = new Array<Buffer>(chest.rows * 9 + 36).fill(varint(0));
  for (const item of chest.items) {
    if (item.slot >= 0 && item.slot < chest.rows * 9) slots[item.slot] = chestSlot(version, item);
  }
  const id = (name: string) => varint(version.play.toClient.id(name));
  const windowId = varint(chest.windowId);
  return [
    Buffer.concat([id("open_window"), windowId, varint(chest.rows - 1), textNbt(chest.title, version)]),
    Buffer.concat([id("window_items"), windowId, varint(1), varint(slots.length), ...slots, varint(0)]),
  ];
}

function chestSlot(version: Version, item: ChestItem): Buffer {
  // A custom name is slanted unless it says otherwise.
  const upright = (text: Text): Text =>
    typeof text === "string" ? { text, italic: false } : { italic: false, ...text };
  const line = (text: Text) => textNbt(upright(text), version);
  const added = [Buffer.concat([componentId(version, "custom_name"), line(item.name)])];
  if (item.lore?.length) {
    added.push(
      Buffer.concat([componentId(version, "lore"), varint(item.lore.length), ...item.lore.map(line)]),
    );
  }
  return slot(version, { name: item.item, count: item.count ?? 1, added });
}

/** Puts a written book into the first hotbar slot, selects it and opens it. */
export function bookPackets(version: Version, pages: readonly Text[]): Buffer[] {
  const content = Buffer.concat([
    componentId(version, "written_book_content"),
    ...[string("svc"), bool(false), string("svc"), varint(0), varint(pages.length)],
    ...pages.flatMap((page) => [textNbt(page, version), bool(false)]),
    bool(true),
  ]);
  const book = slot(version, { name: "written_book", count: 1, added: [content] });
  const id = (name: string) => varint(version.play.toClient.id(name));
  return [
    Buffer.concat([id("set_slot"), varint(0), varint(1), ushort(36), book]),
    Buffer.concat([id("held_item_slot"), varint(0)]),
    Buffer.concat([id("open_book"), varint(0)]),
  ];
}
