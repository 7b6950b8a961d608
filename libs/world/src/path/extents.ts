// Sparse files: which parts of them are data.

import type { Stats } from "node:fs";

/** A range of data; the range between two of them reads as zeros and takes no space. */
export type Extent = { at: number; length: number };

/** Holes smaller than this are not looked for: reading them is quicker than starting a program. */
const worthLookingBytes = 1 << 20;
/** Most unallocated bytes of a file that is still read whole where its holes can't be found. */
export const mostUnseenHoleBytes = 64 * 2 ** 30;

/** Allocated bytes of a file, as reported by its file system. */
export function allocatedBytes({ size, blocks }: Pick<Stats, "size" | "blocks">): number {
  return Math.min(size, blocks * 512);
}

/** Clamps a sum of lengths: sparse files together may exceed `Number.MAX_SAFE_INTEGER`. */
export function clampToSafeInteger(bytes: number): number {
  return Math.min(bytes, Number.MAX_SAFE_INTEGER);
}

export function mayHaveHoles(stats: Pick<Stats, "size" | "blocks">): boolean {
  return stats.size - allocatedBytes(stats) >= worthLookingBytes;
}

export function lengthOf(extents: readonly Extent[]): number {
  return extents.reduce((sum, { length }) => sum + length, 0);
}

/** The data of a file in chunks, each with its offset; without extents they are contiguous from the start. */
export async function* placed(
  chunks: AsyncIterable<Buffer>,
  extents: readonly Extent[] | undefined,
): AsyncGenerator<{ at: number; chunk: Buffer }> {
  let index = 0;
  let inside = 0;
  for await (const chunk of chunks) {
    if (!extents) {
      yield { at: inside, chunk };
      inside += chunk.length;
      continue;
    }
    for (let from = 0; from < chunk.length; ) {
      const extent = extents[index];
      if (!extent) throw new Error("the file has more data than its extents");
      const count = Math.min(chunk.length - from, extent.length - inside);
      if (count > 0) yield { at: extent.at + inside, chunk: chunk.subarray(from, from + count) };
      from += count;
      inside += count;
      if (inside < extent.length) continue;
      index += 1;
      inside = 0;
    }
  }
}
