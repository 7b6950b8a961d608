// The index of an archive: one line per entry with the offset of its header in the uncompressed bytes, compressed in parts
// so that neither writing nor reading needs all of it in memory.

import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { readDigests } from "./digests.ts";
import { createZstdPacker } from "./frame-writer.ts";
import { entryOf, type Judged } from "./tar-entry.ts";
import { corrupt, type TarEntry } from "./tar-header.ts";

const unpack = promisify(zstdDecompress);
const partBytes = 1 << 20;

export type IndexedEntry = TarEntry & {
  headerAt: number;
  /** SHA-256 of its content; of no folder, no file with holes, and none in an archive of an earlier release. */
  digest?: Buffer | undefined;
};

/** The contents of both frames. */
export type ArchiveIndex = {
  lines: Buffer;
  /** Absent in an archive of an earlier release. */
  digests: Buffer | undefined;
};

type IndexWriter = Disposable & {
  add: (entry: IndexedEntry) => Promise<void>;
  finish: () => Promise<Buffer>;
};

/** Collects lines; `finish` returns the parts, each preceded by its compressed and uncompressed length. */
export function createIndexWriter(): IndexWriter {
  const packer = createZstdPacker();
  const parts: Buffer[] = [];
  let lines: string[] = [];
  let length = 0;

  async function seal(): Promise<void> {
    const plain = Buffer.from(lines.join(""));
    const packed = Buffer.concat(await packer.pack(plain));
    const head = Buffer.alloc(8);
    head.writeUInt32LE(packed.length, 0);
    head.writeUInt32LE(plain.length, 4);
    parts.push(head, packed);
    lines = [];
    length = 0;
  }

  return {
    add: async ({ path, kind, mode, mtimeMs, size, headerAt, stored }) => {
      // JSON keeps names that are not UTF-8: it escapes lone surrogates.
      const holes = stored === undefined ? [] : [stored];
      const fields = [path, kind === "folder" ? 1 : 0, mode, mtimeMs, size, headerAt, ...holes];
      const line = `${JSON.stringify(fields)}\n`;
      lines.push(line);
      length += line.length;
      if (length >= partBytes) await seal();
    },
    finish: async () => {
      if (lines.length > 0) await seal();
      return Buffer.concat(parts);
    },
    [Symbol.dispose]: () => packer[Symbol.dispose](),
  };
}

/** Entries in the order of the archive. Throws `backup_corrupt` for a malformed index. */
export async function* readIndex({ lines, digests }: ArchiveIndex): AsyncGenerator<IndexedEntry> {
  const digest = readDigests(digests);
  for await (const entry of readLines(lines))
    yield entry.kind === "file" ? { ...entry, digest: digest.next() } : entry;
  digest.end();
}

async function* readLines(content: Buffer): AsyncGenerator<IndexedEntry> {
  const judged: Judged = { folder: "" };
  for (let at = 0; at < content.length; ) {
    const { text, next } = await readPart(content, at).catch(() => {
      throw corrupt("its index cannot be read");
    });
    for (const line of text.split("\n")) if (line !== "") yield parseLine(line, judged);
    at = next;
  }
}

async function readPart(content: Buffer, at: number): Promise<{ text: string; next: number }> {
  const packed = content.readUInt32LE(at);
  const plain = content.readUInt32LE(at + 4);
  if (plain > 8 * partBytes) throw new Error("a part of the index is too large");
  const next = at + 8 + packed;
  if (next > content.length) throw new Error("a part of the index exceeds it");
  const text = await unpack(content.subarray(at + 8, next), { maxOutputLength: Math.max(1, plain) });
  return { text: text.toString(), next };
}

function parseLine(line: string, judged: Judged): IndexedEntry {
  const fields = parsed(line);
  const [path, isFolder, mode, mtimeMs, size, headerAt, stored] = Array.isArray(fields)
    ? (fields as unknown[])
    : [];
  const numbers = [mode, mtimeMs, size, headerAt, stored ?? 0];
  if (typeof path !== "string" || !numbers.every((value) => Number.isSafeInteger(value)))
    throw corrupt("a line of its index is malformed");
  const kind = isFolder === 1 ? "folder" : "file";
  const header = { path: kind === "folder" ? `${path}/` : path, type: kind === "folder" ? "5" : "0" };
  const about = { ...header, mode: Number(mode), mtimeMs: Number(mtimeMs), size: Number(size) };
  const entry = entryOf(about, judged);
  if (entry?.path !== path) throw corrupt("a line of its index is malformed");
  return { ...entry, headerAt: Number(headerAt), ...(stored !== undefined && { stored: Number(stored) }) };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
