// One object of the archive of the log: a line that says which part it is, and the bytes of that part
// (docs/reference/off-site.md#wal). Whoever owns the bucket can exchange sealed objects; the line tells.

import { buffer } from "node:stream/consumers";
import type { ObjectStore } from "@svc/object-store";
import { type KeyRing, open, sealedSize } from "@svc/sealed";
import { z } from "zod";
import { sendPlain } from "./send.ts";
import { type Digest, verified } from "./source.ts";
import { keyOfWal } from "./wal-key.ts";

type Access = { bucket: ObjectStore; ring: KeyRing; signal: AbortSignal };

const Head = z.strictObject({
  format: z.literal(1),
  path: z.string(),
  bytes: z.number().int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
const longestHead = 1_024;

function headOf(path: string, { sizeBytes, sha256 }: Digest): Buffer {
  const head: z.output<typeof Head> = { format: 1, path, bytes: sizeBytes, sha256 };
  return Buffer.from(`${JSON.stringify(head)}\n`);
}

/** Sealed bytes of the object of a part with so many bytes. */
export function sealedSizeOf(path: string, sizeBytes: number): number {
  return sealedSize(headOf(path, { sizeBytes, sha256: "0".repeat(64) }).length + sizeBytes);
}

type OutgoingPart = Digest & {
  path: string;
  /** The bytes of the part; called again for a repeat. */
  open: () => AsyncIterable<Uint8Array>;
  onProgress?: (sentBytes: number) => void;
};

/** Stores the object of a part; returns its sealed size. */
export function sendWalObject(access: Access, part: OutgoingPart): Promise<number> {
  const { path, sizeBytes, sha256, onProgress } = part;
  const head = headOf(path, part);
  async function* readPlain(from: number) {
    if (from < head.length) yield head.subarray(from);
    yield* verified(part.open(), part, Math.max(0, from - head.length));
  }
  return sendPlain(access, {
    key: keyOfWal(path),
    plainBytes: head.length + sizeBytes,
    fingerprint: `wal:${sha256}`,
    readPlain,
    onProgress,
  });
}

/** The bytes of a part, compared with its line. Throws for an object that is not there, or is that of another part. */
export async function* openWalObject(
  { bucket, ring, signal }: Access,
  path: string,
): AsyncGenerator<Uint8Array> {
  const found = await bucket.get(keyOfWal(path), { signal });
  if (!found) throw new Error(`${path} is not in the bucket any more`);
  const chunks = open(found.bytes, ring);
  try {
    const { head, rest } = await readHead(chunks);
    if (head.path !== path)
      throw new Error(`it is ${head.path} under another name; the bucket was changed from outside`);
    yield* verified(join(rest, chunks), { sizeBytes: head.bytes, sha256: head.sha256 });
  } finally {
    await chunks.return(undefined);
  }
}

/** Of a part that is small. */
export async function readWalObject(access: Access, path: string): Promise<Buffer> {
  return buffer(openWalObject(access, path));
}

async function readHead(chunks: AsyncGenerator<Buffer>) {
  let read: Buffer = Buffer.alloc(0);
  for (;;) {
    const end = read.indexOf(0x0a);
    if (end >= 0) {
      const head = Head.parse(JSON.parse(read.toString("utf8", 0, end)));
      return { head, rest: read.subarray(end + 1) };
    }
    const next = await chunks.next();
    if (next.done || read.length > longestHead) throw new Error("it does not say which part it is");
    read = Buffer.concat([read, next.value]);
  }
}

async function* join(first: Buffer, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  yield* rest;
}
