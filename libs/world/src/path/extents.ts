// Files with holes: what of them is data.

import type { Stats } from "node:fs";

/** A stretch of data; what lies between two of them reads as zeros and takes no room. */
export type Extent = { at: number; length: number };

/** Bytes that must be holes before anybody looks for them: reading so much is quicker than starting a program. */
const worthLookingBytes = 1 << 20;
/** What a file may lack on the disk and still be read whole where nothing finds its holes. */
export const mostUnseenHoleBytes = 64 * 2 ** 30;

/** Bytes that a file takes, as far as its file system says. */
export function allocatedBytes({ size, blocks }: Pick<Stats, "size" | "blocks">): number {
  return Math.min(size, blocks * 512);
}

/** A sum of lengths as it can be told exactly: files of holes may be longer together than whole numbers go. */
export function clampToSafeInteger(bytes: number): number {
  return Math.min(bytes, Number.MAX_SAFE_INTEGER);
}

export function mayHaveHoles(stats: Pick<Stats, "size" | "blocks">): boolean {
  return stats.size - allocatedBytes(stats) >= worthLookingBytes;
}

export function lengthOf(extents: readonly Extent[]): number {
  return extents.reduce((sum, { length }) => sum + length, 0);
}

/** Chunks of the data of a file, each with its place in it; without extents they follow one another from the start. */
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
      if (!extent) throw new Error("there is more data than the map of the file says");
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
