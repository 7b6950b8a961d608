// Bodies for tests of byte transfers.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";

export async function* chunks(count: number, bytes: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) yield Buffer.alloc(bytes, n);
}

export async function digestOf(
  source: AsyncIterable<Uint8Array>,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    hash.update(chunk);
  }
  return { bytes, sha256: hash.digest("hex") };
}

export const signal = () => new AbortController().signal;

export const isFault = (name: string) => (error: unknown) => {
  assert.equal((error as { fault: string }).fault, name);
  return true;
};
