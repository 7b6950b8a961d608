// Reads a tar entry by entry and trusts nothing: every header is checked, sizes are bounded by the bytes that exist, and an
// archive without its end is damaged.

import type { Extent } from "../path/extents.ts";
import { decodePath } from "../path/name.ts";
import { readMap } from "./sparse.ts";
import { entryOf, type Judged } from "./tar-entry.ts";
import {
  applyPax,
  blockBytes,
  corrupt,
  decodeHeader,
  paddingAfter,
  type RawHeader,
  type TarEntry,
} from "./tar-header.ts";

const recordBytes = 1 << 20;

/**
 * An entry with its content, which is skipped if it is not read before the next entry is requested. A chunk is valid until
 * the next one is requested, and longer if retained.
 */
export type ReadEntry<Entry = TarEntry> = Entry & {
  /** Of a sparse file only its data. */
  content: () => AsyncIterable<Buffer>;
  /** Only for a sparse file: where its data lies. */
  extents?: Extent[] | undefined;
  headerAt: number;
};

type TarOptions = {
  /** The bytes begin at some entry, and the caller stops before the end. */
  isPart?: boolean;
};

/** Entries in order. The root itself is left out. Throws `backup_corrupt`, `archive_unsafe`, `archive_symlink`. */
export function readTar(chunks: AsyncIterable<Buffer>, options: TarOptions = {}): AsyncGenerator<ReadEntry> {
  const judged: Judged = { folder: "" };
  return readTarAs(chunks, (header) => entryOf(header, judged), options);
}

/** As `readTar`, with other rules: `accept` throws for what must not be in the archive, and skips what it gives back nothing for. */
export async function* readTarAs<Entry>(
  chunks: AsyncIterable<Buffer>,
  accept: (header: RawHeader) => Entry | undefined,
  { isPart = false }: TarOptions = {},
): AsyncGenerator<ReadEntry<Entry>> {
  await using bytes = new ByteReader(chunks);
  for (;;) {
    const headerAt = bytes.position;
    const header = await readHeader(bytes);
    if (!header) return isPart ? undefined : await expectZeros(bytes);
    const entry = accept(header);
    const { size: stored, realSize } = header;
    const map = realSize === undefined ? undefined : await readMap(bytes, { stored, size: realSize });
    let left = stored - (map?.bytes ?? 0);
    const holes = map && { extents: map.extents, stored: left };
    let isTaken = false;
    const content = async function* () {
      if (isTaken) throw new Error("the content of an entry can be read only once");
      isTaken = true;
      while (left > 0) {
        const chunk = await bytes.some(left);
        left -= chunk.length;
        yield chunk;
      }
    };
    if (entry) yield { ...entry, ...holes, content, headerAt };
    await bytes.skip(left + paddingAfter(stored));
  }
}

async function readHeader(bytes: ByteReader): Promise<RawHeader | undefined> {
  let pax: Buffer | undefined;
  let longName: Buffer | undefined;
  let longTarget: Buffer | undefined;
  for (let records = 0; records < 16; records += 1) {
    const header = decodeHeader(await bytes.exactly(blockBytes));
    if (!header) {
      if (pax || longName || longTarget) throw corrupt("it ends after an extended header");
      return undefined;
    }
    if (!/^[xgLK]$/.test(header.type)) {
      if (longName) header.path = pathOf(longName);
      if (longTarget) header.target = pathOf(longTarget);
      return pax ? applyPax(pax, header) : header;
    }
    if (header.size > recordBytes) throw corrupt("an extended header is too large");
    // It outlives its chunk.
    const content = Buffer.from(await bytes.exactly(header.size));
    await bytes.skip(paddingAfter(header.size));
    if (header.type === "x") pax = content;
    if (header.type === "L") longName = content;
    if (header.type === "K") longTarget = content;
  }
  throw corrupt("an entry has too many extended headers");
}

function pathOf(longName: Buffer): string {
  const end = longName.indexOf(0);
  return decodePath(end < 0 ? longName : longName.subarray(0, end));
}

async function expectZeros(bytes: ByteReader): Promise<void> {
  for (let chunk = await bytes.any(); chunk; chunk = await bytes.any()) {
    if (!isZero(chunk)) throw corrupt("it has data after its end");
  }
}

const zeros = Buffer.alloc(1 << 16);

function isZero(chunk: Buffer): boolean {
  for (let at = 0; at < chunk.length; at += zeros.length) {
    const part = chunk.subarray(at, at + zeros.length);
    if (part.compare(zeros, 0, part.length) !== 0) return false;
  }
  return true;
}

class ByteReader implements AsyncDisposable {
  position = 0;
  readonly #chunks: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next available bytes; undefined at the end. */
  async any(): Promise<Buffer | undefined> {
    while (this.#chunk.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) return undefined;
      this.#chunk = next.value;
    }
    return this.#take(this.#chunk.length);
  }

  /** From one to `most` bytes. */
  async some(most: number): Promise<Buffer> {
    const chunk = this.#chunk.length > 0 ? this.#take(Math.min(most, this.#chunk.length)) : await this.any();
    if (!chunk) throw corrupt("it ends too early");
    if (chunk.length <= most) return chunk;
    this.#chunk = chunk.subarray(most);
    this.position -= this.#chunk.length;
    return chunk.subarray(0, most);
  }

  async exactly(count: number): Promise<Buffer> {
    const first = count === 0 ? Buffer.alloc(0) : await this.some(count);
    if (first.length === count) return first;
    // It is invalid once the next chunk is read.
    const parts = [Buffer.from(first)];
    for (let have = first.length; have < count; ) {
      const part = await this.some(count - have);
      parts.push(Buffer.from(part));
      have += part.length;
    }
    return Buffer.concat(parts);
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0; ) left -= (await this.some(left)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chunks.return?.();
  }

  #take(count: number): Buffer {
    const taken = this.#chunk.subarray(0, count);
    this.#chunk = this.#chunk.subarray(count);
    this.position += count;
    return taken;
  }
}
