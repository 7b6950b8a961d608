// Layout of a sealed object (docs/reference/off-site.md#format).

/** First bytes of every sealed object, and additional data of every segment. */
export const magic = Buffer.from("SVCSEAL1", "ascii");
export const prefixBytes = 7;
export const headerBytes = magic.length + prefixBytes;
/** Plaintext of one segment. */
export const segmentBytes = 65_536;
export const tagBytes = 16;
export const sealedSegmentBytes = segmentBytes + tagBytes;
/** The number of a segment is a uint32. */
const maxSegments = 2 ** 32;

const segmentsOf = (plainBytes: number) => Math.max(1, Math.ceil(plainBytes / segmentBytes));

/** Size of the sealed object of a plaintext. Throws a `RangeError` above 256 TiB. */
export function sealedSize(plainBytes: number): number {
  const segments = segmentsOf(plainBytes);
  if (!Number.isSafeInteger(plainBytes) || plainBytes < 0 || segments > maxSegments)
    throw new RangeError(`${plainBytes} bytes cannot be sealed`);
  return headerBytes + plainBytes + tagBytes * segments;
}

/** Size of the plaintext of a sealed object; undefined when no sealed object has that size. */
export function plainSize(sealedBytes: number): number | undefined {
  const body = sealedBytes - headerBytes;
  if (!Number.isSafeInteger(body) || body < tagBytes) return undefined;
  const plain = body - tagBytes * Math.ceil(body / sealedSegmentBytes);
  return plain >= 0 && segmentsOf(plain) <= maxSegments && sealedSize(plain) === sealedBytes
    ? plain
    : undefined;
}

/** Nonce of a segment: the object's prefix, the number of the segment, and whether it is the last. */
export function nonceOf(prefix: Uint8Array, segment: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.set(prefix);
  nonce.writeUInt32BE(segment, prefixBytes);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}
