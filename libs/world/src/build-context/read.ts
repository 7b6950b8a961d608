// Reads a build context, a gzip tarball, entry by entry, and stops at whatever must not be unpacked.

import { unpackGzip } from "../archive/open.ts";
import { unsafe } from "../archive/tar-entry.ts";
import { type ReadEntry, readTarAs } from "../archive/tar-reader.ts";
import { WorldFault } from "../fault.ts";
import { type ContextEntry, type ContextLimits, contextLimits, createContextRules } from "./rules.ts";

const dockerfileBytes = 1 << 20;

export type ReadContext = {
  /** In order; folders that only paths name are not among them. Throws `archive_unsafe` and `backup_corrupt`. */
  entries: AsyncGenerator<ReadEntry<ContextEntry>>;
  /** Devices and pipes that were left out so far. */
  skipped: () => number;
};

/** Opens a packed context; each packed chunk must keep its bytes. Read `entries` to the end to know that all of it is safe. */
export function readContext(
  packed: AsyncIterable<Uint8Array>,
  limits: ContextLimits = contextLimits,
): ReadContext {
  const { entries, skipped } = readPack(packed, limits);
  return { entries: withDockerfile(entries), skipped };
}

/** As `readContext` for an archive within a context, which needs no Dockerfile; `isPlain` for a tar that is not compressed. */
export function readPack(
  packed: AsyncIterable<Uint8Array>,
  limits: ContextLimits,
  { isPlain = false } = {},
): ReadContext {
  const { accept, skipped } = createContextRules(limits);
  const plain = bounded(
    packed,
    { ...limits, ...(isPlain && { ratio: 1 }) },
    isPlain ? asBuffers : unpackGzip,
  );
  return { entries: readTarAs(plain, accept), skipped };
}

async function* asBuffers(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const { buffer, byteOffset, byteLength } of chunks)
    yield Buffer.from(buffer, byteOffset, byteLength);
}

async function* withDockerfile(
  entries: AsyncGenerator<ReadEntry<ContextEntry>>,
): AsyncGenerator<ReadEntry<ContextEntry>> {
  let hasDockerfile = false;
  for await (const entry of entries) {
    if (entry.path === "Dockerfile") {
      if (entry.kind !== "file") throw unsafe(entry.path, "it must be a file");
      if (entry.size > dockerfileBytes) throw unsafe(entry.path, `it has more than ${dockerfileBytes} bytes`);
      hasDockerfile = true;
    }
    yield entry;
  }
  if (hasDockerfile) return;
  throw new WorldFault("archive_invalid", "The archive has no Dockerfile at its root.");
}

async function* bounded(
  packed: AsyncIterable<Uint8Array>,
  { plainBytes: most, ratio, freeBytes }: ContextLimits,
  unpack: (packed: AsyncIterable<Uint8Array>) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let [packedBytes, plainBytes] = [0, 0];
  const counted = async function* () {
    for await (const chunk of packed) {
      packedBytes += chunk.length;
      yield chunk;
    }
  };
  for await (const chunk of unpack(counted())) {
    plainBytes += chunk.length;
    if (plainBytes > most)
      throw new WorldFault("archive_unsafe", `The archive has more than ${most} bytes when it is unpacked.`);
    if (plainBytes > freeBytes + ratio * packedBytes)
      throw new WorldFault("archive_unsafe", `The archive unpacks to more than ${ratio} times its size.`);
    yield chunk;
  }
}
