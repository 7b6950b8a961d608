// A key on paper: 24 words of BIP 39 with its checksum, and the key's id (docs/reference/off-site.md#recovery-sheet).

import { createHash } from "node:crypto";
import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { SealedError } from "./error.ts";
import { bytesOf, keyOf, type SealKey } from "./key.ts";

const wordCount = 24;
const columns = 4;

/** The key as words. */
export function wordsOf(key: SealKey): string[] {
  return entropyToMnemonic(bytesOf(key), wordlist).split(" ");
}

/** What is printed: `about` are lines such as the bucket and its endpoint. It has the secret. */
export function formatSheet(key: SealKey, about: readonly string[]): string {
  const cells = wordsOf(key).map((word, at) => `${String(at + 1).padStart(2)}. ${word.padEnd(8)}`);
  const rows = Array.from({ length: wordCount / columns }, (_, row) =>
    `  ${cells.slice(row * columns, (row + 1) * columns).join("  ")}`.trimEnd(),
  );
  return [
    "svc: recovery sheet of the off-site key",
    "",
    ...about,
    `Key id: ${key.id}`,
    "",
    ...rows,
    "",
    "Whoever has these words can read the off-site copies; without them nobody can. Keep the sheet on paper, away from",
    "the platform. `svc offsite restore-key` takes the words and the key id and writes the key file.",
    "",
  ].join("\n");
}

/**
 * Reads the words of a sheet, or a whole sheet: numbers, line breaks and capitals do not count. With the key id a single
 * wrong word, or two that were exchanged, is found and named. Throws a `SealedError` with `sheet`.
 */
export function parseSheet(text: string): SealKey {
  const id = /key id:?\s*([0-9a-f]{16})\b/i.exec(text)?.[1]?.toLowerCase();
  const words = wordsIn(text);
  checkWords(words);
  const numbers = words.map((word) => wordlist.indexOf(word));
  const key = decode(numbers);
  if (key && (id === undefined || key.id === id)) return key;
  throw new SealedError("sheet", id === undefined ? withoutId : (explain(numbers, id) ?? twoWrong));
}

const withoutId =
  "the words do not fit together: at least one is wrong. Give the key id too (a line such as Key id: 0123456789abcdef), and the wrong word is named";
const twoWrong =
  "the words do not belong to this key id: more than one word is wrong, or the words are of another sheet";

// A whole sheet has numbered words; words alone are everything there is.
function wordsIn(text: string): string[] {
  const numbered = [...text.matchAll(/(?<=^|\s)(\d{1,2})[.)]\s*(\p{L}+)/gmu)];
  if (numbered.length > 0) {
    const sorted = numbered.toSorted(([, a], [, b]) => Number(a) - Number(b));
    sorted.forEach(([, number], at) => {
      if (Number(number) !== at + 1)
        throw new SealedError("sheet", `word ${at + 1} is missing or is given twice`);
    });
    return sorted.map(([, , word = ""]) => word.toLowerCase());
  }
  const alone = text.replace(/key id:?\s*[0-9a-f]{16}\b/i, " ");
  return (alone.match(/\p{L}+/gu) ?? []).map((word) => word.toLowerCase());
}

function checkWords(words: readonly string[]): void {
  words.forEach((word, at) => {
    if (wordlist.includes(word)) return;
    const near = nearest(word);
    const hint = near.length > 0 ? `; perhaps ${near.join(" or ")}` : "";
    throw new SealedError("sheet", `word ${at + 1}, "${word}", is not in the list of words${hint}`);
  });
  if (words.length !== wordCount)
    throw new SealedError("sheet", `a sheet has ${wordCount} words, not ${words.length}`);
}

// 24 numbers of 11 bits: the key and the first byte of its sha256.
function decode(numbers: readonly number[]): SealKey | undefined {
  const bytes = Buffer.alloc(33);
  numbers.forEach((number, at) => {
    for (let bit = 0; bit < 11; bit += 1) {
      const place = at * 11 + bit;
      if ((number >> (10 - bit)) & 1) bytes[place >> 3] = (bytes[place >> 3] ?? 0) | (128 >> (place & 7));
    }
  });
  const entropy = bytes.subarray(0, 32);
  return createHash("sha256").update(entropy).digest()[0] === bytes[32] ? keyOf(entropy) : undefined;
}

/** The sentence that names a single wrong word or two exchanged ones. */
function explain(numbers: readonly number[], id: string): string | undefined {
  for (let at = 0; at < wordCount; at += 1) {
    for (let number = 0; number < wordlist.length; number += 1) {
      if (decode(numbers.with(at, number))?.id !== id) continue;
      const [given, right] = [wordlist[numbers[at] ?? 0], wordlist[number]];
      return `word ${at + 1}, "${given}", is wrong: with "${right}" the words belong to the key id`;
    }
  }
  for (let one = 0; one < wordCount; one += 1) {
    for (let two = one + 1; two < wordCount; two += 1) {
      const exchanged = numbers.with(one, numbers[two] ?? 0).with(two, numbers[one] ?? 0);
      if (decode(exchanged)?.id === id) return `words ${one + 1} and ${two + 1} are exchanged`;
    }
  }
  return undefined;
}

function nearest(word: string): string[] {
  const scored = wordlist.map((candidate) => ({ candidate, distance: distanceOf(word, candidate) }));
  const best = Math.min(...scored.map(({ distance }) => distance));
  if (best > 2) return [];
  return scored.flatMap(({ candidate, distance }) => (distance === best ? [candidate] : [])).slice(0, 3);
}

/** Levenshtein distance. */
function distanceOf(one: string, two: string): number {
  let row = Array.from({ length: two.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= two.length; to += 1) {
      const replaced = (row[to - 1] ?? 0) + (one[at - 1] === two[to - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
