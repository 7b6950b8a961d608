// Cuts a stream of chunks of any size into pieces of one size.

/** A piece, and whether the stream ended with it. Its bytes are valid until the next piece is asked for. */
export type Piece = { bytes: Buffer; isLast: boolean };

/**
 * Yields pieces of exactly `size` bytes, the last one with what is left. A stream without bytes is one empty last piece.
 * Holds one piece back, because only what follows tells whether it is the last.
 */
export async function* cutPieces(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  size: number,
): AsyncGenerator<Piece> {
  // One buffer for all pieces that chunks do not have whole: it stays in the caches of the processor.
  const joined = Buffer.allocUnsafeSlow(size);
  let held = 0;
  for await (const chunk of source) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    while (held + rest.length > size) {
      const end = size - held;
      if (held === 0) yield { bytes: rest.subarray(0, size), isLast: false };
      else {
        rest.copy(joined, held, 0, end);
        held = 0;
        yield { bytes: joined, isLast: false };
      }
      rest = rest.subarray(end);
    }
    held += rest.copy(joined, held);
  }
  yield { bytes: joined.subarray(0, held), isLast: true };
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
