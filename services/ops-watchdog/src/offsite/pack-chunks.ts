// A pack of the archive folder as it is read: its chunks are compared with the digests that an archive has of them. Bytes between
// them are of other archives, which compare them when they are copied.

import { createHash, hash } from "node:crypto";
import type { Manifest } from "@svc/world/chunks";
import type { PackCopy } from "./packed-copies.ts";
import { WrongBytesError } from "./source.ts";

/** Numbers of the chunks of an archive, by pack and by where they begin there. */
export function inOrderOfPacks({ chunks }: Manifest): Uint32Array {
  const order = Uint32Array.from({ length: chunks.count }, (_, index) => index);
  return order.sort((a, b) => {
    const [one, other] = [chunks.placeOf(a), chunks.placeOf(b)];
    return one.pack - other.pack || one.at - other.at || one.length - other.length;
  });
}

type Wanted = { manifest: Manifest; order: Uint32Array; pack: number };

/** What the pack is, once every chunk in it was compared. Throws `WrongBytesError`. */
export async function comparePack(source: AsyncIterable<Uint8Array>, wanted: Wanted): Promise<PackCopy> {
  const { name, size } = wanted.manifest.packs[wanted.pack] ?? { name: "", size: 0 };
  const whole = createHash("sha256");
  const compare = createComparer(spansOf(wanted), name);
  let at = 0;
  for await (const bytes of source) {
    whole.update(bytes);
    compare.take(bytes, at);
    at += bytes.length;
  }
  if (at !== size || !compare.isDone()) throw new WrongBytesError(`${name} has ${at} of ${size} bytes`);
  return { name, sizeBytes: size, sha256: whole.digest("hex") };
}

/** Compares spans whose bytes come in pieces. They are put together: an object for each hash would fill the memory. */
function createComparer(spans: Generator<Span, undefined>, name: string) {
  let span = spans.next().value;
  let held = Buffer.alloc(0);
  let have = 0;
  const finish = ({ at, length, digest }: Span) => {
    if (!hash("sha256", held.subarray(0, length), "buffer").equals(digest))
      throw new WrongBytesError(`the chunk at ${at} of ${name} is not what was written`);
    span = spans.next().value;
    have = 0;
  };
  return {
    /** Bytes of the pack that begin at `at`. */
    take: (bytes: Uint8Array, at: number) => {
      while (span && span.at + have < at + bytes.length) {
        const { length } = span;
        if (held.length < length) {
          const larger = Buffer.alloc(Math.max(length, 1 << 18));
          held.copy(larger, 0, 0, have);
          held = larger;
        }
        const from = span.at + have - at;
        const piece = bytes.subarray(from, Math.min(bytes.length, from + length - have));
        held.set(piece, have);
        have += piece.length;
        if (have < length) return;
        finish(span);
      }
    },
    isDone: () => span === undefined,
  };
}

type Span = { at: number; length: number; digest: Buffer };

/** Chunks of one pack from its beginning on, each once. Throws where two lie over one another. */
function* spansOf({ manifest, order, pack }: Wanted): Generator<Span, undefined> {
  const { chunks } = manifest;
  let end = 0;
  let before: Span | undefined;
  for (let place = firstOf(chunks, order, pack); place < order.length; place += 1) {
    const index = order[place] ?? 0;
    const found = chunks.placeOf(index);
    if (found.pack !== pack) return;
    const span = { at: found.at, length: found.length, digest: chunks.digestOf(index) };
    if (before?.at === span.at && before.length === span.length && before.digest.equals(span.digest))
      continue;
    if (span.at < end) throw new WrongBytesError("two chunks of a pack lie over one another");
    yield span;
    before = span;
    end = span.at + span.length;
  }
}

function firstOf(chunks: Manifest["chunks"], order: Uint32Array, pack: number): number {
  let [low, high] = [0, order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunks.placeOf(order[middle] ?? 0).pack < pack) low = middle + 1;
    else high = middle;
  }
  return low;
}
