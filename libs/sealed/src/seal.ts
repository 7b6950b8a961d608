import { createCipheriv, randomBytes } from "node:crypto";
import { magic, nonceOf, prefixBytes, segmentBytes } from "./format.ts";
import type { SealKey } from "./key.ts";
import { cutPieces, type Piece } from "./pieces.ts";

/** A new prefix for the nonces of one object. */
export const newPrefix = () => randomBytes(prefixBytes);

/** A segment with its tag. */
type SealedSegment = { bytes: Buffer; tag: Buffer };

type Place = { prefix: Uint8Array; segment: number };

export function sealSegment(key: SealKey, { prefix, segment }: Place, piece: Piece): SealedSegment {
  const cipher = createCipheriv("aes-256-gcm", key.secret, nonceOf(prefix, segment, piece.isLast));
  cipher.setAAD(magic);
  const sealed = cipher.update(piece.bytes);
  cipher.final();
  const tag = cipher.getAuthTag();
  return { bytes: Buffer.concat([sealed, tag]), tag };
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
    yield sealSegment(key, { prefix, segment }, piece).bytes;
    segment += 1;
  }
}
