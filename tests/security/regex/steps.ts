// How many steps a backtracking matcher makes, as the engine's own does: nothing here depends on the machine.

import type { Node } from "./parse.ts";

class TooMany extends Error {}

type Rest = (at: number) => number;
const failed = -1;

/** The steps to find every match in `text`, or `most` and no more. */
export function stepsOf(
  node: Node,
  text: string,
  { isMultiline, most }: { isMultiline: boolean; most: number },
): number {
  let steps = 0;
  const chars = [...text];
  const step = () => {
    steps += 1;
    if (steps > most) throw new TooMany();
  };
  const isWord = (at: number) => /\w/.test(chars[at] ?? "");
  const holds = (source: string, at: number): boolean => {
    if (source === "^") return at === 0 || (isMultiline && chars[at - 1] === "\n");
    if (source === "$") return at === chars.length || (isMultiline && chars[at] === "\n");
    return (isWord(at - 1) !== isWord(at)) === (source === "\\b");
  };
  const matchAll = (parts: readonly Node[], index: number, at: number, rest: Rest): number => {
    const part = parts[index];
    return part ? match(part, at, (next) => matchAll(parts, index + 1, next, rest)) : rest(at);
  };
  const repeat = (
    node: Node & { kind: "repeat" },
    at: number,
    { count, rest }: { count: number; rest: Rest },
  ): number => {
    step();
    const more = () =>
      count >= node.max
        ? failed
        : match(node.body, at, (next) =>
            next === at && count >= node.min ? failed : repeat(node, next, { count: count + 1, rest }),
          );
    if (count < node.min) return more();
    if (node.isLazy) {
      const found = rest(at);
      return found === failed ? more() : found;
    }
    const found = more();
    return found === failed ? rest(at) : found;
  };
  const looks = (node: Node & { kind: "look" }, at: number): boolean => {
    if (!node.isBehind) return match(node.body, at, (end) => end) !== failed;
    // What the sources look behind at is short.
    for (let start = at; start >= Math.max(0, at - 4); start--)
      if (match(node.body, start, (end) => (end === at ? end : failed)) !== failed) return true;
    return false;
  };
  const match = (node: Node, at: number, rest: Rest): number => {
    step();
    if (node.kind === "char")
      return at < chars.length && node.is(chars[at] as string) ? rest(at + 1) : failed;
    if (node.kind === "assert") return holds(node.source, at) ? rest(at) : failed;
    if (node.kind === "look") return looks(node, at) === node.isNot ? failed : rest(at);
    if (node.kind === "sequence") return matchAll(node.parts, 0, at, rest);
    if (node.kind === "repeat") return repeat(node, at, { count: 0, rest });
    for (const option of node.options) {
      const found = match(option, at, rest);
      if (found !== failed) return found;
    }
    return failed;
  };
  try {
    for (let at = 0; at <= chars.length; ) {
      const end = match(node, at, (found) => found);
      at = end > at ? end : at + 1;
    }
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    return most;
  }
  return steps;
}
