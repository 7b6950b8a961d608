// Passes bytes on only as long as they can still be the expected ones; the last chunk waits for the digest.

import { createHash } from "node:crypto";

type Expected = { bytes: number; sha256: string };

/** Throws what `mismatch` gives back, before the last chunk, when length or digest are not as expected. */
export async function* verified<Chunk extends Uint8Array>(
  chunks: AsyncIterable<Chunk>,
  { bytes, sha256 }: Expected,
  mismatch: (why: "length" | "digest") => Error,
): AsyncGenerator<Chunk> {
  const hash = createHash("sha256");
  let passed = 0;
  const assertDigest = () => {
    if (hash.digest("hex") !== sha256) throw mismatch("digest");
  };
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    passed += chunk.length;
    if (passed > bytes) throw mismatch("length");
    hash.update(chunk);
    if (passed === bytes) assertDigest();
    yield chunk;
  }
  if (passed < bytes) throw mismatch("length");
  if (bytes === 0) assertDigest();
}
