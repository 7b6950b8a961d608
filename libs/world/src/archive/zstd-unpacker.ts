// Unpacks many small frames with one decoder: to make one for each of them takes longer than to unpack it.

import { createZstdDecompress } from "node:zlib";
import { releaseBuffer, shareBuffer } from "../buffer-release.ts";
import type { Frame } from "./seek-table.ts";
import { corrupt } from "./tar-header.ts";

type ZstdUnpacker = Disposable & {
  /**
   * The content of frames that follow one another, in parts. One call at a time. Throws `backup_corrupt` for a frame that is not
   * as long as it should be, and what zlib says of one that is damaged.
   */
  unpack: (packed: Buffer, frames: readonly Frame[]) => Promise<Buffer[]>;
  /** Parts of one call, each valid until the next one is asked for; for all calls in order. */
  lend: (parts: readonly Buffer[]) => Generator<Buffer>;
};

export function createZstdUnpacker(): ZstdUnpacker {
  let parts: Buffer[] = [];
  /** The last part that was lent. Its memory may have later parts, which the decoder is still about to write. */
  let lent: Buffer | undefined;
  const newDecoder = () => createDecoder((part) => void parts.push(part));
  let decoder = newDecoder();

  async function unpackOne(packed: Buffer): Promise<void> {
    for (let at = 0; at < packed.length; ) {
      const used = await decoder.write(packed.subarray(at));
      at += used;
      if (at === packed.length) return;
      if (used === 0) throw corrupt("behind a frame there is no other one");
      // A decoder ends where bytes come behind a frame: what packs frames may have added an empty one (nodejs/node#66078).
      decoder.end();
      decoder = newDecoder();
    }
  }

  return {
    unpack: async (packed, frames) => {
      let at = 0;
      let plain = 0;
      let seen = 0;
      for (const frame of frames) {
        await unpackOne(packed.subarray(at, at + frame.packed));
        at += frame.packed;
        plain += frame.plain;
        for (; seen < parts.length; seen += 1) plain -= parts[seen]?.length ?? 0;
        if (plain !== 0) throw corrupt("a frame is not as long as its table says");
      }
      const found = parts;
      parts = [];
      return found;
    },
    *lend(given) {
      for (const part of given) {
        if (part.length === 0) continue;
        if (lent?.buffer !== part.buffer) {
          if (lent) releaseBuffer(lent);
          shareBuffer(part);
        }
        lent = part;
        yield part;
      }
    },
    [Symbol.dispose]: () => decoder.end(),
  };
}

function createDecoder(onPart: (part: Buffer) => void) {
  const stream = createZstdDecompress({ chunkSize: 1 << 20 });
  let fail: (error: Error) => void = () => undefined;
  stream.on("data", onPart);
  stream.on("error", (error) => fail(error));
  return {
    /** Bytes that were used: less than all when a frame ends before. */
    write: (packed: Buffer) =>
      new Promise<number>((resolve, reject) => {
        const before = stream.bytesWritten;
        fail = reject;
        stream.write(packed, (error) => {
          // Flushes pending output to `data`.
          while (stream.read() !== null);
          if (error) reject(error);
          else resolve(stream.bytesWritten - before);
        });
      }),
    end: () => void stream.destroy(),
  };
}
