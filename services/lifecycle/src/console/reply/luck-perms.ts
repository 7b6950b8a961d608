// What LuckPerms answers over RCON. Version 5 shows whether a permission is granted by its colour alone (green or red);
// version 4 writes `(true)` or `(false)` behind it. Contexts follow in brackets. Pure.

import { withoutColours } from "./names.ts";

export type Permission = { node: string; value: boolean; world?: string };
export type InfoPage = { pages: number; permissions: Permission[] };

/** Whether the server does not know the command, in the words of vanilla, Spigot, Paper and the demo server. */
export function isUnknownCommand(reply: string): boolean {
  return /^\s*(?:unknown command|unknown or incomplete command)/i.test(withoutColours(reply));
}

const redEntry = /^(?:§[0-9a-fk-orx])*>\s*(?:§[0-9a-fk-orx])*§c/i;
const entry = /^>\s*(\S+)((?:\s*\([^()]*\))*)\s*$/;

/** One page of `lp user <player> permission info`. */
export function parseInfoPage(reply: string): InfoPage {
  const [, pages = "1"] = /\(page \d+ of (\d{1,4})\b/i.exec(withoutColours(reply)) ?? [];
  return { pages: Math.max(1, Number(pages)), permissions: reply.split(/\r?\n/).flatMap(readEntry) };
}

function readEntry(line: string): Permission[] {
  const [, node, brackets = ""] = entry.exec(withoutColours(line).trim()) ?? [];
  if (node === undefined) return [];
  const notes = [...brackets.matchAll(/\(([^()]*)\)/g)].map(([, note = ""]) => note);
  const value = !redEntry.test(line.trim()) && !notes.includes("false");
  const world = notes.find((note) => note.startsWith("world="))?.slice("world=".length);
  return [{ node, value, ...(world && { world }) }];
}

const groupPrefix = "group.";

/** Granted `group.<name>` without a world are groups; everything else is a permission (api.md A14). */
export function splitGroups(all: readonly Permission[]): { groups: string[]; permissions: Permission[] } {
  const isGroup = ({ node, value, world }: Permission) =>
    node.startsWith(groupPrefix) && node.length > groupPrefix.length && value && world === undefined;
  const groups = all.filter(isGroup).map(({ node }) => node.slice(groupPrefix.length));
  return { groups: [...new Set(groups)], permissions: all.filter((one) => !isGroup(one)) };
}
