// A layer of planned entries: that of an earlier build where the cache has it, else packed anew.

import { fetchCached, type LayerCache } from "../layer-cache/cache.ts";
import { smallestCached } from "../layer-cache/entry.ts";
import { hashLayer, type Layer, writeLayer } from "./layer.ts";
import type { LayerEntry } from "./plan-layer.ts";

type Making = { cache: LayerCache | undefined; signal: AbortSignal };

export async function makeLayer(
  entries: readonly LayerEntry[],
  path: string,
  { cache, signal }: Making,
): Promise<Layer & { isReused: boolean }> {
  const bytes = entries.reduce((sum, { size }) => sum + size, 0);
  if (cache && bytes >= smallestCached) {
    const wanted = await hashLayer(entries, signal);
    const found = await fetchCached(cache, wanted, path);
    if (found) return { digest: found.digest, size: found.size, diffId: wanted.diffId, isReused: true };
  }
  return { ...(await writeLayer(entries, path, signal)), isReused: false };
}
