import { createDecipheriv } from "node:crypto";
import { SealedError } from "./error.ts";
import { headerBytes, magic, nonceOf, sealedSegmentBytes, tagBytes } from "./format.ts";
import { type KeyRing, keysOf, type SealKey } from "./key.ts";
import { cutPieces, type Piece } from "./pieces.ts";

type Place = { prefix: Uint8Array; segment: number };

/** The plaintext of a segment, or undefined when it is not what was sealed at this place. */
function openSegment(key: SealKey, { prefix, segment }: Place, piece: Piece): Buffer | undefined {
  const end = piece.bytes.length - tagBytes;
  if (end < 0) return undefined;
  const nonce = nonceOf(prefix, segment, piece.isLast);
  const decipher = createDecipheriv("aes-256-gcm", key.secret, nonce, { authTagLength: tagBytes });
  decipher.setAAD(magic).setAuthTag(piece.bytes.subarray(end));
  const plain = decipher.update(piece.bytes.subarray(0, end));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return plain;
}

/**
 * Opens a sealed stream with the key of the ring that fits. No byte of a segment is released before its tag was checked;
 * whoever must not act on the beginning of a truncated object waits for the end. `onKey` is called once, before the
 * first byte. Throws a `SealedError`.
 */
export async function* open(
  sealed: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ring: KeyRing,
  { onKey }: { onKey?: (key: SealKey) => void } = {},
): AsyncGenerator<Buffer> {
  const header = createHeaderReader();
  let key: SealKey | undefined;
  let segment = 0;
  for await (const piece of cutPieces(header.after(sealed), sealedSegmentBytes)) {
    const prefix = header.prefix();
    const place = { prefix, segment };
    const found = openWith(key ? [key] : keysOf(ring), place, piece);
    if (!found) throw key ? whyLater([key], place, piece) : whyFirst(ring, place, piece);
    const { plain } = found;
    if (!key) onKey?.(found.key);
    key = found.key;
    // The writer never makes one; the size of the object would not tell its content.
    if (plain.length === 0 && segment > 0) throw new SealedError("damaged", "the last segment is empty");
    if (plain.length > 0) yield plain;
    segment += 1;
  }
}

function openWith(keys: readonly SealKey[], place: Place, piece: Piece) {
  for (const key of keys) {
    const plain = openSegment(key, place, piece);
    if (plain) return { key, plain };
  }
  return undefined;
}

function createHeaderReader() {
  let header = Buffer.alloc(0);
  const check = () => {
    const known = Math.min(header.length, magic.length);
    if (!header.subarray(0, known).equals(magic.subarray(0, known)))
      throw new SealedError("not_sealed", "the object is not sealed: it begins with other bytes");
  };
  return {
    async *after(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of source) {
        const missing = headerBytes - header.length;
        if (missing > 0) header = Buffer.concat([header, chunk.subarray(0, missing)]);
        check();
        if (chunk.length > missing) yield missing > 0 ? chunk.subarray(missing) : chunk;
      }
    },
    prefix(): Buffer {
      if (header.length < headerBytes)
        throw new SealedError("truncated", "the object is truncated: its header is incomplete");
      return header.subarray(magic.length);
    },
  };
}

function whyFirst(ring: KeyRing, place: Place, piece: Piece): SealedError {
  const known = whyLater(keysOf(ring), place, piece);
  if (known.problem !== "damaged") return known;
  const ids = keysOf(ring).map(({ id }) => id);
  return new SealedError(
    "unreadable",
    `no key opens the object: it was sealed with another key than ${ids.join(", ")}, or its beginning was changed`,
  );
}

// A segment that opens with the other flag is genuine: only what follows it is missing or too much.
function whyLater(keys: readonly SealKey[], place: Place, piece: Piece): SealedError {
  const at = `segment ${place.segment}`;
  if (piece.bytes.length < tagBytes) return new SealedError("truncated", `the object is truncated in ${at}`);
  const other = { bytes: piece.bytes, isLast: !piece.isLast };
  if (!keys.some((key) => openSegment(key, place, other) !== undefined))
    return new SealedError("damaged", `${at} is damaged`);
  return piece.isLast
    ? new SealedError("truncated", `the object is truncated after ${at}`)
    : new SealedError("trailing", `bytes follow the end of the object, ${at}`);
}
