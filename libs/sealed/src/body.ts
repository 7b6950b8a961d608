// A sealed object that can be read more than once and from any byte, as a resumable upload needs it.

import { SealedError } from "./error.ts";
import {
  headerBytes,
  magic,
  prefixBytes,
  sealedSegmentBytes,
  sealedSize,
  segmentBytes,
  tagBytes,
} from "./format.ts";
import type { SealKey } from "./key.ts";
import { cutPieces, skipBytes } from "./pieces.ts";
import { newPrefix, sealSegment } from "./seal.ts";

/** The sealed bytes of one plaintext. */
export type SealedBody = {
  readonly sizeBytes: number;
  /** What another process needs to go on with these very bytes. It is no secret. */
  readonly state: string;
  /** The sealed bytes from this one on; each chunk is valid until the next one is asked for. */
  read: (from: number) => AsyncIterable<Uint8Array>;
};

type SealedBodyOptions = {
  key: SealKey;
  /** Size of the plaintext. */
  plainBytes: number;
  /** The plaintext from a byte on; always the same bytes. */
  readPlain: (from: number) => AsyncIterable<Uint8Array>;
  /** `state` of a body that another process began; only for the same plaintext. */
  state?: string | undefined;
};

/**
 * Seals a plaintext of known size. A segment that is read again must be what it was before: two plaintexts under one nonce
 * would reveal both, so a source that changed is a `SealedError` with `source_changed`, before a byte of it is released.
 */
export function createSealedBody(options: SealedBodyOptions): SealedBody {
  const { key, plainBytes, readPlain } = options;
  const prefix = options.state === undefined ? newPrefix() : parseState(options.state, key);
  const sizeBytes = sealedSize(plainBytes);
  const seen = createSeenTags();
  async function* segments(first: number): AsyncGenerator<Uint8Array> {
    let segment = first;
    let left = plainBytes - first * segmentBytes;
    // One for all segments, but for each reader.
    const room = Buffer.allocUnsafeSlow(sealedSegmentBytes);
    for await (const piece of cutPieces(readPlain(first * segmentBytes), segmentBytes)) {
      left -= piece.bytes.length;
      if (piece.isLast ? left !== 0 : left <= 0) throw sourceChanged(`it no longer has ${plainBytes} bytes`);
      const { bytes, tag } = sealSegment(key, { prefix, segment }, { piece, room });
      if (!seen.isSame(segment, tag)) throw sourceChanged(`segment ${segment} has other bytes`);
      yield bytes;
      segment += 1;
    }
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield Buffer.concat([magic, prefix]);
    yield* segments(0);
  }
  const read = (from: number): AsyncIterable<Uint8Array> => {
    if (!Number.isSafeInteger(from) || from < 0 || from > sizeBytes)
      throw new RangeError(`there is no byte ${from}`);
    if (from < headerBytes) return skipBytes(whole(), from);
    if (from === sizeBytes) return skipBytes([], 0);
    const first = Math.floor((from - headerBytes) / sealedSegmentBytes);
    return skipBytes(segments(first), from - headerBytes - first * sealedSegmentBytes);
  };
  return { sizeBytes, state: `${key.id}:${prefix.toString("hex")}`, read };
}

/** Whether `state` is of a body under this key. */
export function isStateOf(state: string, key: SealKey): boolean {
  return new RegExp(`^${key.id}:[0-9a-f]{${prefixBytes * 2}}$`).test(state);
}

function parseState(state: string, key: SealKey): Buffer {
  if (!isStateOf(state, key)) throw new SealedError("key", "the state is of a body under another key");
  return Buffer.from(state.slice(key.id.length + 1), "hex");
}

function sourceChanged(why: string): SealedError {
  return new SealedError("source_changed", `the source changed while it was sealed: ${why}`);
}

/** Remembers the tag of each segment, 16 bytes for 64 KiB. */
function createSeenTags() {
  const tags: (Buffer | undefined)[] = [];
  return {
    /** Remembers a new tag; false when another one is known. */
    isSame(segment: number, tag: Buffer): boolean {
      const known = tags[segment];
      if (known) return known.equals(tag.subarray(0, tagBytes));
      tags[segment] = tag;
      return true;
    },
  };
}
