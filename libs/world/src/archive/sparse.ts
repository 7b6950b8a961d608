// Sparse files in a tar, in GNU tar's format 1.0: the map of the extents as text before the data, in whole blocks, and the
// real name and size in pax records. tar, bsdtar and Python read it.

import type { Extent } from "../path/extents.ts";
import { blockBytes, corrupt } from "./tar-header.ts";

const mostExtents = 1_000_000;

/** Encodes the map that precedes the data of a sparse file. */
export function encodeMap(extents: readonly Extent[], size: number): Buffer {
  const last = extents.at(-1);
  // If the file ends with a hole, only this entry gives its length.
  const all = last && last.at + last.length === size ? extents : [...extents, { at: size, length: 0 }];
  const text = Buffer.from(`${all.length}\n${all.map(({ at, length }) => `${at}\n${length}\n`).join("")}`);
  return Buffer.concat([text, Buffer.alloc((blockBytes - (text.length % blockBytes)) % blockBytes)]);
}

type Blocks = { exactly: (count: number) => Promise<Buffer> };

/**
 * Reads a map from the start of a content; `bytes` is its length. Throws `backup_corrupt` for one that is out of order,
 * exceeds the file or does not match the data.
 */
export async function readMap(
  blocks: Blocks,
  { stored, size }: { stored: number; size: number },
): Promise<{ extents: Extent[]; bytes: number }> {
  const numbers: number[] = [];
  let rest = "";
  let bytes = 0;
  while (numbers.length === 0 || numbers.length < 1 + 2 * (numbers[0] ?? 0)) {
    if (bytes + blockBytes > stored) throw corrupt("the map of a file is longer than its content");
    const lines = (rest + (await blocks.exactly(blockBytes)).toString("latin1")).split("\n");
    bytes += blockBytes;
    rest = lines.pop() ?? "";
    for (const line of lines) if (!isDone(numbers)) numbers.push(parsed(line));
    if ((numbers[0] ?? 0) > mostExtents || rest.length > blockBytes)
      throw corrupt("the map of a file is too large");
  }
  return { extents: judged(numbers, { data: stored - bytes, size }), bytes };
}

function isDone(numbers: readonly number[]): boolean {
  return numbers.length > 0 && numbers.length >= 1 + 2 * (numbers[0] ?? 0);
}

function parsed(line: string): number {
  const value = Number(line);
  if (!/^\d{1,16}$/.test(line) || !Number.isSafeInteger(value))
    throw corrupt("the map of a file is malformed");
  return value;
}

function judged(numbers: readonly number[], { data, size }: { data: number; size: number }): Extent[] {
  const extents: Extent[] = [];
  let end = 0;
  let sum = 0;
  for (let index = 1; index < numbers.length; index += 2) {
    const [at = 0, length = 0] = numbers.slice(index, index + 2);
    if (at < end || at + length > size) throw corrupt("the map of a file exceeds it");
    end = at + length;
    sum += length;
    if (length > 0) extents.push({ at, length });
  }
  if (sum !== data) throw corrupt("the map of a file does not match its data");
  return extents;
}
