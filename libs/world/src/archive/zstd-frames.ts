// Cuts a zstd stream into its frames by their lengths (RFC 8878, 3.1). Node's decoder stops behind the first frame, without
// an error, but `cat`, pzstd and our own archives write several.

import { corrupt } from "./tar-header.ts";

const frameMagic = 0xfd2fb528;
/** With any of 16 last digits. */
const skippableMagic = 0x184d2a50;

/**
 * The frames one after the other, without those that hold no data; read each to its end before the next. A piece is as
 * long valid as the chunk that it is a part of. Throws `backup_corrupt` for what is no frame and for one that is cut.
 */
export async function* splitZstdFrames(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<AsyncIterable<Buffer>> {
  const bytes = createBytes(chunks);
  while (await bytes.hasMore()) {
    const magic = await bytes.take(4);
    const code = magic.readUInt32LE();
    if (code === frameMagic) yield readFrame(bytes, magic);
    else if ((code & ~0xf) >>> 0 === skippableMagic) {
      const length = (await bytes.take(4)).readUInt32LE();
      for await (const _ of bytes.pieces(length));
    } else throw corrupt("behind a frame there is no other one");
  }
}

type Bytes = ReturnType<typeof createBytes>;

async function* readFrame(bytes: Bytes, magic: Buffer): AsyncGenerator<Buffer> {
  yield magic;
  const descriptor = await bytes.take(1);
  yield descriptor;
  const flags = descriptor.readUInt8();
  yield await bytes.take(headerBytes(flags));
  for (let isLast = false; !isLast; ) {
    const head = await bytes.take(3);
    yield head;
    const block = head.readUIntLE(0, 3);
    isLast = (block & 1) === 1;
    const kind = (block >> 1) & 3;
    if (kind === 3) throw corrupt("a block is of no known kind");
    // A block of one repeated byte says how often instead of how long it is.
    yield* bytes.pieces(kind === 1 ? 1 : block >> 3);
  }
  if (flags & 4) yield await bytes.take(4);
}

/** Of the rest of the header: window, dictionary and length of the content. */
function headerBytes(flags: number): number {
  const isSingleSegment = (flags & 0x20) !== 0;
  const contentBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0;
  return (isSingleSegment ? 0 : 1) + ([0, 1, 2, 4][flags & 3] ?? 0) + contentBytes;
}

function createBytes(chunks: AsyncIterable<Uint8Array>) {
  const source = chunks[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const hasMore = async () => {
    while (rest.length === 0) {
      const { done, value } = await source.next();
      if (done) return false;
      rest = Buffer.from(value.buffer, value.byteOffset, value.length);
    }
    return true;
  };
  async function* pieces(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (!(await hasMore())) throw corrupt("it ends too early");
      const piece = rest.subarray(0, left);
      rest = rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }
  /** A copy. */
  const take = async (count: number): Promise<Buffer> => {
    const taken = Buffer.alloc(count);
    let at = 0;
    for await (const piece of pieces(count)) at += piece.copy(taken, at);
    return taken;
  };
  return { hasMore, pieces, take };
}
