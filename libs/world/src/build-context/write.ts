// Writes a build context, a gzip tarball, out of files that come one after the other. The same files give the same bytes.

import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { blockBytes, encodeEntry, paddingAfter } from "../archive/tar-header.ts";

export type NewContextFile = {
  /** Relative, with forward slashes. */
  path: string;
  isExecutable: boolean;
  size: number;
  content: () => AsyncIterable<Uint8Array>;
};

/** Throws when a content is not as long as its `size`. */
export function writeContext(files: Iterable<NewContextFile>): AsyncIterable<Buffer> {
  const gzip = createGzip({ level: 3 });
  // A failure destroys it, so its reader sees the error.
  pipeline(Readable.from(blocksOf(files), { objectMode: true, highWaterMark: 4 }), gzip, () => {});
  return gzip;
}

async function* blocksOf(files: Iterable<NewContextFile>): AsyncGenerator<Uint8Array> {
  for (const { path, isExecutable, size, content } of files) {
    yield encodeEntry({ path, kind: "file", mode: isExecutable ? 0o755 : 0o644, mtimeMs: 0, size });
    let written = 0;
    for await (const chunk of content()) {
      written += chunk.length;
      if (chunk.length > 0) yield chunk;
    }
    if (written !== size) throw new Error(`${path} has ${written} bytes, not ${size}`);
    const padding = paddingAfter(size);
    if (padding > 0) yield Buffer.alloc(padding);
  }
  yield Buffer.alloc(2 * blockBytes);
}
