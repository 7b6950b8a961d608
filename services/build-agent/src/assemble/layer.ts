// Writes a layer: a tar of planned entries without times, compressed, so that the same files give the same digest.

import { createHash, type Hash } from "node:crypto";
import { constants, createWriteStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { LayerEntry } from "./plan-layer.ts";
import { tarEnd, tarHeader, tarPadding } from "./tar.ts";

export type Layer = { digest: string; size: number; diffId: string };

/** Packs are jars and region files, which are compressed already. */
const level = 1;
const readBytes = 256 << 10;

export async function writeLayer(
  entries: readonly LayerEntry[],
  path: string,
  signal: AbortSignal,
): Promise<Layer> {
  const [plain, packed] = [createHash("sha256"), createHash("sha256")];
  await pipeline(
    hashed(tarOf(entries), plain),
    createGzip({ level }),
    (chunks: AsyncIterable<Buffer>) => hashed(chunks, packed),
    createWriteStream(path),
    { signal },
  );
  const { size } = await stat(path);
  return { digest: `sha256:${packed.digest("hex")}`, size, diffId: `sha256:${plain.digest("hex")}` };
}

/** What the layer would be before it is packed. */
export async function hashLayer(
  entries: readonly LayerEntry[],
  signal: AbortSignal,
): Promise<{ diffId: string; plainBytes: number }> {
  const hash = createHash("sha256");
  let plainBytes = 0;
  for await (const chunk of tarOf(entries)) {
    signal.throwIfAborted();
    hash.update(chunk);
    plainBytes += chunk.length;
  }
  return { diffId: `sha256:${hash.digest("hex")}`, plainBytes };
}

async function* hashed(chunks: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

async function* tarOf(entries: readonly LayerEntry[]): AsyncGenerator<Buffer> {
  for (const entry of entries) {
    yield tarHeader(entry);
    if (entry.at !== undefined) yield* contentOf(entry.at, entry.size);
    yield tarPadding(entry.size);
  }
  yield tarEnd;
}

async function* contentOf(path: string, size: number): AsyncGenerator<Buffer> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  let left = size;
  while (left > 0) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(Math.min(readBytes, left)));
    if (bytesRead === 0) break;
    left -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
  if (left > 0) throw new Error(`${path} changed while it was read`);
}
