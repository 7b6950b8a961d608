// Which commands a limited member may run (docs/reference/shared-access.md#commands). Pure.
// Vocabulary: pattern = the beginning of a command, word by word, where `*` stands for any text; carrier = a command that
// can run another one, or that writes what will.

import { z } from "zod";

/** A pattern as it is stored: one space between words, no leading slash. */
export const CommandPattern = z
  .string()
  .max(200)
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u, "must be one line")
  .transform((text) => tidy(text.trim().replace(/^\//, "")))
  .refine((text) => text !== "", "must not be empty")
  .refine((text) => printable.test(firstWordOf(text)), "must begin with a word of ASCII characters")
  .meta({ type: "string", minLength: 1, maxLength: 200 });

export type CommandLimits = {
  /** Only what one of these matches; absent: everything. */
  allow_commands?: readonly string[] | undefined;
  /** Nothing that one of these matches, whatever is allowed. */
  deny_commands?: readonly string[] | undefined;
};

const printable = /^[!-~]+$/;

/**
 * Commands of the game and of plugins that are widely used which run what stands in them, or write it where it will be
 * run: into command blocks, functions, signs and aliases, or the right to run it into somebody's account.
 */
const carriers: ReadonlySet<string> = new Set([
  ...["execute", "function", "schedule", "return", "debug", "reload", "datapack"],
  ...["data", "setblock", "fill", "clone", "place", "summon"],
  ...["sudo", "esudo", "powertool", "epowertool", "pt", "ept", "cmd", "run", "script", "skript", "sk"],
  ...["lp", "luckperms", "perm", "perms", "permission", "permissions", "lpb", "lpv", "pex", "op", "deop"],
  ...["alias", "plugman", "plugin", "pl", "worldedit", "we"],
]);

/**
 * Whether these limits let a command through. `line` is what is sent to the game: without its leading slash. A carrier
 * passes only by a pattern of its own name, and then nothing that is denied may stand anywhere in it.
 */
export function isCommandAllowed(line: string, limits: CommandLimits): boolean {
  const { allow_commands: allow, deny_commands: deny = [] } = limits;
  if (allow === undefined && deny.length === 0) return true;
  const text = tidy(line);
  const word = firstWordOf(text);
  if (!printable.test(word) || /[\p{Cc}\u2028\u2029]/u.test(text)) return false;
  const isCarrier = carriers.has(bareWord(word));
  if (isDenied(text, deny, isCarrier)) return false;
  if (allow === undefined) return !isCarrier;
  return allow.some((pattern) => isAllowedBy(pattern, text, isCarrier));
}

function isAllowedBy(pattern: string, text: string, isCarrier: boolean): boolean {
  const word = firstWordOf(pattern);
  // `*` alone is no consent to commands that carry others.
  if (isCarrier && word.toLowerCase() !== firstWordOf(text).toLowerCase()) return false;
  return matches(lowerFirst(pattern), lowerFirst(text));
}

function isDenied(text: string, deny: readonly string[], isCarrier: boolean): boolean {
  if (deny.length === 0) return false;
  const words = text.toLowerCase().split(" ");
  const starts = isCarrier ? words.map((_, index) => words.slice(index).join(" ")) : [words.join(" ")];
  return deny.some((pattern) => starts.some((start) => isDeniedBy(pattern.toLowerCase(), start)));
}

// `minecraft:op`, `//op` and `x:op` are `op`, in the pattern and in the command.
function isDeniedBy(pattern: string, text: string): boolean {
  const bareText = bare(text);
  if (matches(pattern, text) || matches(pattern, bareText)) return true;
  const barePattern = bare(pattern);
  return firstWordOf(barePattern) !== "*" && matches(barePattern, bareText);
}

/** The text with its first word as the game looks it up. */
function bare(text: string): string {
  const word = firstWordOf(text);
  return bareWord(word) + text.slice(word.length);
}

function bareWord(word: string): string {
  // Also slashes, and quotes inside a carrier.
  return word
    .slice(word.lastIndexOf(":") + 1)
    .replace(/^[^\w*]+/, "")
    .toLowerCase();
}

/**
 * Whether a text begins with a pattern: word by word, `*` for any text, also over words. Each part between stars is looked
 * for once, from the left.
 */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (!text.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return endsWord(text, first.length);
  let from = first.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  if (last === "") return true;
  for (let at = text.indexOf(last, from); at >= 0; at = text.indexOf(last, at + 1))
    if (endsWord(text, at + last.length)) return true;
  return false;
}

function endsWord(text: string, at: number): boolean {
  return at === text.length || text[at] === " ";
}

function tidy(text: string): string {
  return text.replace(/ +/g, " ").replace(/^ | $/g, "");
}

function firstWordOf(text: string): string {
  const end = text.indexOf(" ");
  return end < 0 ? text : text.slice(0, end);
}

function lowerFirst(text: string): string {
  const word = firstWordOf(text);
  return word.toLowerCase() + text.slice(word.length);
}
