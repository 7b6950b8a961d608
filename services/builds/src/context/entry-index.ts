// The list of a context's entries, kept beside it as compressed JSON lines, so that nobody unpacks it to look at it.

import { pipeline, Readable } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import type { submissions } from "@svc/proto";

export type IndexEntry = Pick<submissions.ContextEntry, "path" | "kind" | "size" | "target" | "sha256">;

const batchChars = 1 << 16;

/** The bytes of an index, made while its entries come. */
export function encodeIndex(entries: AsyncIterable<IndexEntry>): AsyncIterable<Buffer> {
  const gzip = createGzip({ level: 3 });
  // A failure destroys it, so its reader sees the error.
  pipeline(Readable.from(linesOf(entries), { objectMode: true, highWaterMark: 2 }), gzip, () => {});
  return gzip;
}

async function* linesOf(entries: AsyncIterable<IndexEntry>): AsyncGenerator<string> {
  let batch = "";
  for await (const { path, kind, size, target, sha256 } of entries) {
    batch += `${JSON.stringify({ path, kind, size, target, sha256 })}\n`;
    if (batch.length < batchChars) continue;
    yield batch;
    batch = "";
  }
  yield batch;
}

export async function decodeIndex(bytes: AsyncIterable<Buffer>): Promise<IndexEntry[]> {
  const packed: Buffer[] = [];
  for await (const chunk of bytes) packed.push(Buffer.from(chunk));
  const entries: IndexEntry[] = [];
  let rest = "";
  const text = Readable.from(packed).pipe(createGunzip()).setEncoding("utf8") as AsyncIterable<string>;
  for await (const chunk of text) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) entries.push(JSON.parse(line) as IndexEntry);
  }
  return entries;
}
