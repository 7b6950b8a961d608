// Plaintexts of copies, compared with their digests as they are read.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

export type Digest = { sizeBytes: number; sha256: string };

/** The bytes are not those that were recorded. */
export class WrongBytesError extends Error {
  override name = "WrongBytesError";
}

/**
 * The bytes from `from` on. It fails before its last byte is released unless all of them, also those before `from`, have the
 * size and the digest: an object with other bytes is never completed.
 */
export async function* verified(
  source: AsyncIterable<Uint8Array>,
  { sizeBytes, sha256 }: Digest,
  from = 0,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let read = 0;
  let held: Uint8Array | undefined;
  for await (const chunk of source) {
    hash.update(chunk);
    const before = read;
    read += chunk.length;
    if (read > sizeBytes) break;
    if (held) yield held;
    held = undefined;
    if (read > from) held = chunk.subarray(Math.max(0, from - before));
  }
  if (read !== sizeBytes)
    throw new WrongBytesError(`it has ${read > sizeBytes ? "more than" : read} of ${sizeBytes} bytes`);
  if (hash.digest("hex") !== sha256) throw new WrongBytesError("its digest is not the recorded one");
  if (held) yield held;
}

export function readFileBytes(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: 1 << 20 });
}
