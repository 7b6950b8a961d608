// Reads a request body in few large chunks. Node's parser gives it in pieces of at most 64 KiB, each in fresh memory and
// each a step of every reader on the way; they are copied together while they are still in the processor's cache.

import type { IncomingMessage } from "node:http";
import { releaseChunk } from "./release-chunk.ts";

const chunkBytes = 524_288;
/** One arrives, one is used, and a reader may hold one back. */
const chunksHeld = 3;

/**
 * The body in chunks of what has arrived meanwhile, 512 KiB at most. The memory of a chunk is used again once the second
 * one after it is asked for. Throws when the connection breaks before the end. What a reader leaves is drained.
 */
export async function* readRequestBody(request: IncomingMessage): AsyncGenerator<Buffer> {
  const memory = Array.from({ length: chunksHeld }, () => Buffer.allocUnsafeSlow(chunkBytes));
  let [turn, filled] = [0, 0];
  /** Pieces that do not fit into the chunk that is filled. */
  let rest: Buffer | undefined;
  let isEnded = request.readableEnded;
  let failure = request.destroyed ? closedEarly() : undefined;
  let wake: (() => void) | undefined;
  const notify = () => {
    // The pieces that were read in one go become one chunk.
    if (wake) setImmediate(wake);
    wake = undefined;
  };
  const copy = (piece: Buffer) => {
    const copied = piece.copy(memory[turn] as Buffer, filled);
    filled += copied;
    rest = copied < piece.length ? piece.subarray(copied) : undefined;
    if (!rest) releaseChunk(piece);
  };
  const take = (piece: Buffer) => {
    copy(piece);
    if (rest || filled === chunkBytes) request.pause();
    notify();
  };
  const end = () => {
    isEnded = true;
    notify();
  };
  const fail = (error?: Error) => {
    failure ??= error ?? closedEarly();
    notify();
  };
  const close = () => fail();
  request.on("data", take).once("end", end).once("error", fail).once("close", close);
  try {
    for (;;) {
      while (filled === 0 && !isEnded && !failure) {
        await new Promise<void>((settle) => {
          wake = settle;
        });
      }
      if (filled === 0 && isEnded) return;
      if (filled === 0 && failure) throw failure;
      const chunk = (memory[turn] as Buffer).subarray(0, filled);
      [turn, filled] = [(turn + 1) % chunksHeld, 0];
      if (rest) copy(rest);
      if (!rest) request.resume();
      yield chunk;
    }
  } finally {
    request.off("data", take).off("end", end).off("error", fail).off("close", close);
    request.resume();
  }
}

const closedEarly = () => new Error("the connection was closed before the end of the body");
