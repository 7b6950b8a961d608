// Takes the chunks of an archive in order: those that are known are only noted, the others are written into packs.

import { hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Folder } from "../path/folder.ts";
import { writeAll } from "../path/write-all.ts";
import { ChunkList, type ChunkPlace } from "./chunk-list.ts";
import type { KnownChunk, KnownChunks } from "./known-chunks.ts";
import { mostChunkBytes, type PackFile } from "./manifest.ts";
import { newPackName } from "./names.ts";

/** A pack is closed once it has this many bytes. */
const packBytes = 16 << 20;
const batchBytes = 1 << 20;

type Options = {
  folder: Folder;
  server: string;
  known: KnownChunks;
  /** Throws when there is no room for so many bytes. */
  assertRoom: (bytes: number) => Promise<void>;
};

type Packed = {
  chunks: ChunkList;
  packs: PackFile[];
  /** What was written now. */
  writtenBytes: number;
};

export type PackWriter = AsyncDisposable & {
  /** Whether an earlier archive has this chunk. */
  isKnown: (chunk: Buffer) => boolean;
  /** Uses the bytes only until it returns. */
  add: (bytes: Buffer) => Promise<void>;
  /** Syncs what was written; the names are durable once the folder is synced. */
  finish: () => Promise<Packed>;
  /** Packs that were made, whether or not it was finished. */
  made: () => readonly string[];
};

export function createPackWriter({ known, ...place }: Options): PackWriter {
  const chunks = new ChunkList();
  const packs: PackFile[] = [];
  const numbers = new Map<PackFile, number>();
  /** Of chunks that were asked for and are about to come. */
  const digests = new WeakMap<Buffer, Buffer>();
  const files = createPackFiles(place);

  function numbered({ pack, at, length }: KnownChunk): ChunkPlace {
    const number = numbers.get(pack) ?? packs.push(pack) - 1;
    numbers.set(pack, number);
    return { pack: number, at, length };
  }

  function digestOf(chunk: Buffer): Buffer {
    const digest = digests.get(chunk) ?? hash("sha256", chunk, "buffer");
    digests.set(chunk, digest);
    return digest;
  }

  async function addOne(bytes: Buffer): Promise<void> {
    const digest = digestOf(bytes);
    const written = chunks.find(digest);
    const place =
      written === undefined
        ? numbered(known.find(digest) ?? (await files.append(bytes)))
        : chunks.placeOf(written);
    chunks.add(digest, place);
  }

  return {
    isKnown: (chunk) => known.find(digestOf(chunk)) !== undefined,
    add: async (bytes) => {
      if (bytes.length <= mostChunkBytes) return addOne(bytes);
      for (let at = 0; at < bytes.length; at += mostChunkBytes)
        await addOne(bytes.subarray(at, at + mostChunkBytes));
    },
    finish: async () => {
      const writtenBytes = await files.finish();
      return { chunks, packs, writtenBytes };
    },
    made: () => files.made,
    [Symbol.asyncDispose]: files.dispose,
  };
}

type OpenPack = { file: FileHandle; pack: PackFile; batch: Buffer; filled: number };

/** Appends chunks to packs of some MiB, one after the other. */
function createPackFiles({ folder, server, assertRoom }: Omit<Options, "known">) {
  const made: string[] = [];
  let current: OpenPack | undefined;
  let writtenBytes = 0;
  let syncing = Promise.resolve();

  async function newPack(): Promise<OpenPack> {
    const name = newPackName(server);
    const file = await folder.createFile(name, 0o640);
    made.push(name);
    return { file, pack: { name, size: 0 }, batch: Buffer.allocUnsafeSlow(batchBytes), filled: 0 };
  }

  async function flush(open: OpenPack): Promise<void> {
    if (open.filled === 0) return;
    await assertRoom(open.filled);
    await writeAll(open.file, open.batch.subarray(0, open.filled));
    open.filled = 0;
  }

  /** The disk writes a pack while the next one is filled. */
  async function close(): Promise<void> {
    if (!current) return;
    const { file } = current;
    await flush(current);
    current = undefined;
    await syncing.finally(() => {
      syncing = file.sync().finally(() => file.close());
      syncing.catch(() => undefined);
    });
  }

  return {
    made,
    append: async (bytes: Buffer): Promise<KnownChunk> => {
      current ??= await newPack();
      const open = current;
      const place = { pack: open.pack, at: open.pack.size, length: bytes.length };
      for (let at = 0; at < bytes.length; ) {
        const count = bytes.copy(open.batch, open.filled, at);
        at += count;
        open.filled += count;
        if (open.filled === batchBytes) await flush(open);
      }
      open.pack.size += bytes.length;
      writtenBytes += bytes.length;
      if (open.pack.size >= packBytes) await close();
      return place;
    },
    /** Bytes that were written, once all of them are synced. */
    finish: async (): Promise<number> => {
      await close();
      await syncing;
      return writtenBytes;
    },
    dispose: async (): Promise<void> => {
      await syncing.catch(() => undefined);
      await current?.file.close();
      current = undefined;
    },
  };
}
