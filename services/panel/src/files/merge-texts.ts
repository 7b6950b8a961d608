// Puts the changes of two people to one text together, where they changed different lines.

import { differingLines } from "./differing-lines.ts";
import type { LineBreak } from "./text-content.ts";

type Texts = { base: string; mine: string; theirs: string };

/** These lines of the base, from `from` up to before `to`, became others. */
type Change = { from: number; to: number; lines: readonly string[] };

/** Undefined where both changed the same lines, or lines beside each other, to different ones: a person has to say what is right. */
export function mergeTexts({ base, mine, theirs }: Texts, lineBreak: LineBreak): string | undefined {
  const [start, left, right] = [base, mine, theirs].map((text) => text.split(lineBreak)) as [
    string[],
    string[],
    string[],
  ];
  const own = changesOf(start, left);
  const others = changesOf(start, right).filter((change) => !own.some((one) => isSame(one, change)));
  if (own.some((one) => others.some((other) => doTouch(one, other)))) return undefined;
  const merged = [...start];
  // From the end, so that the places of the others stay right.
  for (const { from, to, lines } of [...own, ...others].sort((one, other) => other.from - one.from))
    merged.splice(from, to - from, ...lines);
  return merged.join(lineBreak);
}

function changesOf(base: readonly string[], text: readonly string[]): Change[] {
  const { left, right } = differingLines(base, text);
  const [gone, come] = [new Set(left), new Set(right)];
  const changes: Change[] = [];
  for (let i = 0, j = 0; i < base.length || j < text.length; ) {
    const [from, first] = [i, j];
    while (gone.has(i + 1)) i++;
    while (come.has(j + 1)) j++;
    if (i > from || j > first) changes.push({ from, to: i, lines: text.slice(first, j) });
    else [i, j] = [i + 1, j + 1];
  }
  return changes;
}

function isSame(one: Change, other: Change): boolean {
  const isEqual =
    one.lines.length === other.lines.length && one.lines.every((line, at) => line === other.lines[at]);
  return one.from === other.from && one.to === other.to && isEqual;
}

function doTouch(one: Change, other: Change): boolean {
  return one.from <= other.to && other.from <= one.to;
}
