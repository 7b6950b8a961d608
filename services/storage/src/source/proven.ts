// What a downloaded file has to be, checked while it arrives.

import { createHash, type Hash } from "node:crypto";
import { DownloadError } from "./failure.ts";

export type Expected = {
  /** Most bytes that are read. */
  mostBytes: number;
  size?: number | undefined;
  /** In hex. */
  sha256?: string | undefined;
  sha512?: string | undefined;
};

const bytesOf = (count: number) => `${count} bytes`;

/** The same bytes. Stops at the first one too many; throws `too_large`, `digest_mismatch`. */
export async function* proven(body: AsyncIterable<Buffer>, expected: Expected): AsyncGenerator<Buffer> {
  const { size, mostBytes } = expected;
  const hashes = (["sha512", "sha256"] as const).flatMap((name): [string, Hash, string][] => {
    const wanted = expected[name];
    return wanted === undefined ? [] : [[name, createHash(name), wanted]];
  });
  let received = 0;
  for await (const chunk of body) {
    received += chunk.length;
    if (received > mostBytes)
      throw new DownloadError(
        "too_large",
        `The file has more than the ${bytesOf(mostBytes)} that it may have.`,
      );
    if (size !== undefined && received > size)
      throw new DownloadError(
        "digest_mismatch",
        `The file has more than the ${bytesOf(size)} it should have.`,
      );
    for (const [, hash] of hashes) hash.update(chunk);
    yield chunk;
  }
  if (size !== undefined && received < size)
    throw new DownloadError(
      "digest_mismatch",
      `The file has ${bytesOf(received)}, not the ${bytesOf(size)} it should have.`,
    );
  for (const [name, hash, wanted] of hashes) {
    const digest = hash.digest("hex");
    if (digest === wanted) continue;
    throw new DownloadError("digest_mismatch", `The ${name} of the file is ${digest}, not ${wanted}.`);
  }
}
