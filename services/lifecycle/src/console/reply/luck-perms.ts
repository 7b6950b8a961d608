// What LuckPerms answers over RCON. Version 5 shows whether a permission is granted by its colour alone (green or red);
// version 4 writes `(true)` or `(false)` behind it. Contexts follow in brackets. Pure.

import { withoutColours } from "./names.ts";

export type Permission = { node: string; value: boolean; world?: string };
export type InfoPage = { pages: number; permissions: Permission[] };

/** Whether the server does not know the command, in the words of vanilla, Spigot, Paper and the demo server. */
export function isUnknownCommand(reply: string): boolean {
  return /^(?:unknown command|unknown or incomplete command)/i.test(
    withoutColours(reply.slice(0, 1_024)).trimStart(),
  );
}

/** So much of a page is read: LuckPerms shows some twenty entries on each. */
export const maxPageChars = 65_536;
/** A node and all contexts of LuckPerms' own tables are below a third of this; a longer line is none of its. */
export const maxLineChars = 2_048;

const pageCount = /\(page \d{1,4} of (\d{1,4})\b/i;
const redEntry = /^(?:§[0-9a-fk-orx])*>\s*(?:§[0-9a-fk-orx])*§c/i;

/**
 * One page of `lp user <player> permission info`. The reply is what a tenant's server says: the work is linear in it, and
 * what lies beyond `maxPageChars` is not read.
 */
export function parseInfoPage(reply: string): InfoPage {
  const page = reply.slice(0, maxPageChars);
  const [, pages = "1"] = pageCount.exec(withoutColours(page)) ?? [];
  const lines = page.split("\n").slice(0, page.length < reply.length ? -1 : undefined);
  return { pages: Math.max(1, Number(pages)), permissions: lines.flatMap(readEntry) };
}

function readEntry(line: string): Permission[] {
  if (line.length > maxLineChars) return [];
  const text = withoutColours(line).trim();
  if (!text.startsWith(">")) return [];
  const [node = "", ...behind] = text.slice(1).trim().split(/\s/);
  const notes = notesIn(behind.join(" "));
  if (node === "" || notes === undefined) return [];
  const value = !redEntry.test(line.trim()) && !notes.includes("false");
  const world = notes.find((note) => note.startsWith("world="))?.slice("world=".length);
  return [{ node, value, ...(world && { world }) }];
}

/** What stands in the brackets, or undefined when there is anything else. */
function notesIn(text: string): string[] | undefined {
  const [before = "", ...parts] = text.split("(");
  const notes = parts.map((part) => part.trimEnd());
  const isNote = (part: string) => part !== "" && part.indexOf(")") === part.length - 1;
  if (before.trim() !== "" || !notes.every(isNote)) return undefined;
  return notes.map((note) => note.slice(0, -1));
}

const groupPrefix = "group.";

/** Granted `group.<name>` without a world are groups; everything else is a permission (docs/reference/console.md#access). */
export function splitGroups(all: readonly Permission[]): { groups: string[]; permissions: Permission[] } {
  const isGroup = ({ node, value, world }: Permission) =>
    node.startsWith(groupPrefix) && node.length > groupPrefix.length && value && world === undefined;
  const groups = all.filter(isGroup).map(({ node }) => node.slice(groupPrefix.length));
  return { groups: [...new Set(groups)], permissions: all.filter((one) => !isGroup(one)) };
}
