// Colours of a log line: SGR escapes and the § codes of Minecraft become looks, other escapes vanish, and characters
// that hide or turn text are shown as symbols.

import { visible } from "../../words/visible.ts";
import { colourOfCode, colourOfIndex, colourOfRgb, colourOfSection } from "./colours.ts";

type Look = {
  colour?: string;
  isBold?: boolean;
  isItalic?: boolean;
  isUnderlined?: boolean;
  isStruck?: boolean;
};
type Span = { text: string; look: Look; href?: string; isMatch?: boolean };

// ESC [ … letter, ESC ] … BEL or ST, any other escape of two characters, §x with six digits, or § with its letter.
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: escapes begin with a control character
const escapes =
  /\x1b\[([0-9;:?<=>]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[^[\]]|§([xX](?:§[0-9a-fA-F]){6}|[0-9a-fk-orxA-FK-ORX])/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: above

/** Splits a line into spans of one look each. */
export function styleText(line: string): Span[] {
  const spans: Span[] = [];
  let look: Look = {};
  let from = 0;
  const push = (to: number) => {
    if (to > from) spans.push(...linkSpans(visible(line.slice(from, to)), look));
  };
  for (const match of line.matchAll(escapes)) {
    push(match.index);
    from = match.index + match[0].length;
    const [, codes, letter, section] = match;
    if (section !== undefined) look = lookOfSection(look, section.toLowerCase());
    else if (letter === "m") look = lookOfSgr(look, codes ?? "");
  }
  push(line.length);
  return spans;
}

/** The line as plain text, for search, copy and readers. */
export function plainText(line: string): string {
  return visible(line.replace(escapes, ""));
}

function lookOfSection(look: Look, code: string): Look {
  const colour = colourOfSection(code);
  // A colour ends the styles before it, as in the game.
  if (colour !== undefined) return { colour };
  if (code === "l") return { ...look, isBold: true };
  if (code === "m") return { ...look, isStruck: true };
  if (code === "n") return { ...look, isUnderlined: true };
  if (code === "o") return { ...look, isItalic: true };
  return code === "r" ? {} : look;
}

function lookOfSgr(before: Look, codes: string): Look {
  let look: Look = { ...before };
  const numbers = codes.split(/[;:]/).map(Number);
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] ?? 0;
    if (code !== 38 && code !== 48) {
      look = withCode(look, code);
      continue;
    }
    // One of 256 colours, or red, green and blue.
    const isIndexed = numbers[at + 1] === 5;
    const [first = 0, second = 0, third = 0] = numbers.slice(at + 2, at + 5);
    if (code === 38) look.colour = isIndexed ? colourOfIndex(first) : colourOfRgb([first, second, third]);
    at += isIndexed ? 2 : 4;
  }
  return look;
}

function withCode(look: Look, code: number): Look {
  const { colour: _, ...plain } = look;
  if (code === 0) return {};
  if (code === 1) return { ...look, isBold: true };
  if (code === 3) return { ...look, isItalic: true };
  if (code === 4) return { ...look, isUnderlined: true };
  if (code === 9) return { ...look, isStruck: true };
  if (code === 22) return { ...look, isBold: false };
  if (code === 39) return plain;
  const colour = colourOfCode(code);
  return colour === undefined ? look : { ...plain, colour };
}

const address = /https?:\/\/[^\s<>"'`§]+[^\s<>"'`§.,;:!?)\]}]/g;

function linkSpans(text: string, look: Look): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const { index, 0: href } of text.matchAll(address)) {
    if (index > from) spans.push({ text: text.slice(from, index), look });
    spans.push({ text: href, look, ...(URL.canParse(href) && { href }) });
    from = index + href.length;
  }
  if (from < text.length) spans.push({ text: text.slice(from), look });
  return spans;
}

/** Marks where a search was found. A match that goes over several looks is not marked. */
export function markMatches(spans: readonly Span[], search: string): Span[] {
  const wanted = search.toLowerCase();
  if (wanted === "") return [...spans];
  return spans.flatMap((span) => {
    const parts: Span[] = [];
    const text = span.text.toLowerCase();
    // A letter that grows in lower case would shift what follows.
    if (text.length !== span.text.length) return [span];
    let from = 0;
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, from)) {
      if (at > from) parts.push({ ...span, text: span.text.slice(from, at) });
      from = at + wanted.length;
      parts.push({ ...span, text: span.text.slice(at, from), isMatch: true });
    }
    if (from < span.text.length) parts.push({ ...span, text: span.text.slice(from) });
    return parts;
  });
}

export const levels = ["all", "info", "warn", "error"] as const;
export type Level = (typeof levels)[number];

const rankOf: Readonly<Record<string, number>> = {
  DEBUG: 0,
  TRACE: 0,
  INFO: 1,
  WARN: 2,
  WARNING: 2,
  ERROR: 3,
  SEVERE: 3,
  FATAL: 3,
};
const levelPattern = /[[/ ](DEBUG|TRACE|INFO|WARN|WARNING|ERROR|SEVERE|FATAL)[\]:]/;

/** How bad a line is, from 0; undefined for one that belongs to the line before it. */
export function rankOfLine(plain: string): number | undefined {
  const [, name] = levelPattern.exec(plain.slice(0, 120)) ?? [];
  return name === undefined ? undefined : rankOf[name];
}

export const lowestRank: Record<Level, number> = { all: 0, info: 1, warn: 2, error: 3 };
