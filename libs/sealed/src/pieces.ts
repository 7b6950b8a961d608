// Cuts a stream of chunks of any size into pieces of one size.

/** A piece, and whether the stream ended with it. */
export type Piece = { bytes: Buffer; isLast: boolean };

/**
 * Yields pieces of exactly `size` bytes, the last one with what is left. A stream without bytes is one empty last piece.
 * Holds one piece back, because only what follows tells whether it is the last.
 */
export async function* cutPieces(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  size: number,
): AsyncGenerator<Piece> {
  let chunks: Buffer[] = [];
  let held = 0;
  for await (const chunk of source) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    while (held + rest.length > size) {
      const end = size - held;
      chunks.push(rest.subarray(0, end));
      yield { bytes: join(chunks), isLast: false };
      chunks = [];
      held = 0;
      rest = rest.subarray(end);
    }
    if (rest.length === 0) continue;
    chunks.push(rest);
    held += rest.length;
  }
  yield { bytes: join(chunks), isLast: true };
}

function join(chunks: Buffer[]): Buffer {
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

/** The stream without its first `count` bytes. */
export async function* skipBytes(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  count: number,
): AsyncGenerator<Uint8Array> {
  let left = count;
  for await (const chunk of source) {
    if (left >= chunk.length) {
      left -= chunk.length;
      continue;
    }
    yield left === 0 ? chunk : chunk.subarray(left);
    left = 0;
  }
}
