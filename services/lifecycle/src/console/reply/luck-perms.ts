// Replies of LuckPerms over RCON. Version 5 shows whether a permission is granted by its colour alone (green or red);
// version 4 writes `(true)` or `(false)` behind it. Contexts follow in brackets. Pure.

import { withoutColours } from "./names.ts";

export type Permission = { node: string; value: boolean; world?: string };
type InfoPage = { pages: number; permissions: Permission[] };

/** Whether the reply says that the command is unknown, as vanilla, Spigot, Paper or the demo server say it. */
export function isUnknownCommand(reply: string): boolean {
  return /^(?:unknown command|unknown or incomplete command)/i.test(
    withoutColours(reply.slice(0, 1_024)).trimStart(),
  );
}

/** Longest page that is read; LuckPerms shows about twenty entries on each. */
const maxPageChars = 65_536;
/** LuckPerms' own columns limit a node with all contexts to a third of this; a longer line is not an entry. */
const maxLineChars = 2_048;

const pageCount = /\(page \d{1,4} of (\d{1,4})\b/i;
const redEntry = /^(?:§[0-9a-fk-orx])*>\s*(?:§[0-9a-fk-orx])*§c/i;

/**
 * One page of `lp user <player> permission info`. The reply comes from a tenant's server, so parsing is linear and reads
 * at most `maxPageChars`.
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

/** The contexts in brackets; undefined when there is anything else. */
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
