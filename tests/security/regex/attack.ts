// Texts that make a backtracking matcher work: something it takes again and again, behind what lets it begin and before
// what lets it fail.

import type { Node } from "./parse.ts";

const pool = [..."ax0 \n\t.-_:/\\\"'[](){}<>=@,;§!#$%&*+?^|~`AZz9é\u0000\u001b\u009b\u009d\ufffd\r"];
const suffixes = ["", "\u0000", "\n", " x", "("];
const mostPumps = 60;
const mostPrefixes = 6;

/** Some shortest texts that the node takes; nothing for what nothing was found for. */
function samples(node: Node): string[] {
  if (node.kind === "char") return [...node.source, ...pool].filter(node.is).slice(0, 2);
  if (node.kind === "assert" || node.kind === "look") return [""];
  if (node.kind === "either")
    return node.options.flatMap((option) => samples(option).slice(0, 1)).slice(0, 6);
  if (node.kind === "repeat") {
    const body = samples(node.body);
    return node.min === 0 ? [...body, ""] : body.map((text) => text.repeat(Math.min(node.min, 16)));
  }
  return joined(node.parts);
}

function joined(parts: readonly Node[]): string[] {
  const each = parts.map(samples);
  const pick = (nth: number) => each.map((texts) => texts[nth % Math.max(1, texts.length)] ?? "").join("");
  return [...new Set([pick(0), pick(1)])];
}

/** Every part that may come again, and every stretch between two such, as the search begins anew at each of them. */
function pumps(node: Node): string[] {
  if (node.kind === "sequence") return [...node.parts.flatMap(pumps), ...stretches(node.parts)];
  if (node.kind === "either") return node.options.flatMap(pumps);
  if (node.kind === "repeat") return [...samples(node.body), ...pumps(node.body)];
  return node.kind === "char" ? samples(node) : [];
}

function stretches(parts: readonly Node[]): string[] {
  const cuts = [0, ...parts.flatMap(({ kind }, at) => (kind === "char" ? [] : [at, at + 1])), parts.length];
  const places = [...new Set(cuts)];
  const found = places.flatMap((from, nth) =>
    places.slice(nth + 1).flatMap((to) => joined(parts.slice(from, to))),
  );
  // Some begin where a word does.
  const words = parts.some(({ kind }) => kind === "assert") ? found.map((text) => ` ${text}`) : [];
  return [...found, ...words];
}

function prefixes(node: Node): string[] {
  if (node.kind === "either") return node.options.flatMap(prefixes);
  if (node.kind !== "sequence") return [""];
  const ends = node.parts.flatMap(({ kind }, at) =>
    kind === "repeat" || kind === "either" ? [at, at + 1] : [],
  );
  return ["", ...ends.toReversed().flatMap((end) => joined(node.parts.slice(0, end)).slice(0, 1))];
}

type Size = { readonly chars: number; readonly times: number };
type Attack = (size: Size) => string;

const longestPump = 24;
/** The matcher calls itself for each character. */
const longestText = 1_200;

function repeats(length: number, { chars, times }: Size): number {
  return Math.min(
    Math.max(times, Math.ceil(chars / length)),
    Math.floor((longestText * times) / (100 * length)),
  );
}

export function* attacks(node: Node): Generator<Attack> {
  const unique = (texts: string[]) => [...new Set(texts)];
  const all = unique(pumps(node)).filter((text) => text !== "" && text.length <= longestPump);
  for (const pump of all.slice(0, mostPumps))
    for (const prefix of unique(prefixes(node)).slice(0, mostPrefixes))
      for (const suffix of suffixes)
        yield ({ chars, times }) => prefix + pump.repeat(repeats(pump.length, { chars, times })) + suffix;
}
