import { createCipheriv, randomBytes } from "node:crypto";
import { magic, nonceOf, prefixBytes, segmentBytes, tagBytes } from "./format.ts";
import type { SealKey } from "./key.ts";
import { cutPieces, type Piece } from "./pieces.ts";

/** A new prefix for the nonces of one object. */
export const newPrefix = () => randomBytes(prefixBytes);

/** A segment with its tag. */
type SealedSegment = { bytes: Buffer; tag: Buffer };

type Place = { prefix: Uint8Array; segment: number };

/** Seals a piece into `room`, which must have space for it and its tag. */
export function sealSegment(
  key: SealKey,
  { prefix, segment }: Place,
  { piece, room }: { piece: Piece; room: Buffer },
): SealedSegment {
  const cipher = createCipheriv("aes-256-gcm", key.secret, nonceOf(prefix, segment, piece.isLast));
  cipher.setAAD(magic);
  const sealed = cipher.update(piece.bytes);
  cipher.final();
  const tag = cipher.getAuthTag();
  const end = sealed.copy(room);
  // Freed at once: the garbage collector would look only after 64 MB of them.
  if (sealed.buffer.byteLength === end && sealed.buffer instanceof ArrayBuffer) sealed.buffer.transfer(0);
  return { bytes: room.subarray(0, end + tag.copy(room, end)), tag };
}

/** Seals a stream whose size is not known before. Memory is constant: two segments. */
export async function* seal(
  plain: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  key: SealKey,
): AsyncGenerator<Buffer> {
  const prefix = newPrefix();
  yield Buffer.concat([magic, prefix]);
  let segment = 0;
  for await (const piece of cutPieces(plain, segmentBytes)) {
    const room = Buffer.allocUnsafeSlow(piece.bytes.length + tagBytes);
    yield sealSegment(key, { prefix, segment }, { piece, room }).bytes;
    segment += 1;
  }
}
