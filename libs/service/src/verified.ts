// Bytes that have to be the expected ones, checked while they arrive.

import { createHash, type Hash } from "node:crypto";

const digests = { sha512: "SHA-512", sha256: "SHA-256", sha1: "SHA-1" } as const;

export type ExpectedBytes = Partial<Record<keyof typeof digests, string | undefined>> & {
  /** How many there are. */
  size?: number | undefined;
  /** How many there may be. */
  mostBytes?: number | undefined;
};

/** `problem` goes on after a subject: "it has 3 bytes, not 4". */
export type Mismatch = { why: "limit" | "length" | "digest"; problem: string };

/**
 * Passes bytes on only as long as they can still be the expected ones, whose digests are in hex. Of a known size the last
 * chunk waits for the digests; otherwise they are compared after it. Throws what `mismatch` gives back.
 */
export async function* verified<Chunk extends Uint8Array>(
  chunks: AsyncIterable<Chunk>,
  expected: ExpectedBytes,
  mismatch: (found: Mismatch) => Error,
): AsyncGenerator<Chunk> {
  const { size = Number.POSITIVE_INFINITY, mostBytes = Number.POSITIVE_INFINITY } = expected;
  const check = digestsOf(expected);
  let passed = 0;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    passed += chunk.length;
    const most = Math.min(size, mostBytes);
    if (passed > most)
      throw mismatch({
        why: mostBytes < size ? "limit" : "length",
        problem: `it has more than ${most} bytes`,
      });
    check.update(chunk);
    if (passed === size) check.assert(mismatch);
    yield chunk;
  }
  if (passed < size && expected.size !== undefined)
    throw mismatch({ why: "length", problem: `it has ${passed} bytes, not ${size}` });
  if (expected.size === undefined || passed === 0) check.assert(mismatch);
}

function digestsOf(expected: ExpectedBytes) {
  const names = Object.keys(digests) as (keyof typeof digests)[];
  const hashes = names.flatMap((name): [title: string, hash: Hash, wanted: string][] => {
    const wanted = expected[name];
    return wanted === undefined ? [] : [[digests[name], createHash(name), wanted]];
  });
  return {
    update: (chunk: Uint8Array) => {
      for (const [, hash] of hashes) hash.update(chunk);
    },
    assert: (mismatch: (found: Mismatch) => Error) => {
      for (const [title, hash, wanted] of hashes) {
        const found = hash.digest("hex");
        if (found !== wanted)
          throw mismatch({ why: "digest", problem: `its ${title} is ${found}, not ${wanted}` });
      }
    },
  };
}
