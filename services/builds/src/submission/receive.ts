// Stores the bytes of a request as parts of a staged context.

import { Fault, submissions } from "@svc/proto";
import { type Mismatch, verified } from "@svc/service/verified";
import { type ContextStore, newBlobName } from "../context/store.ts";
import type { UploadLease } from "./upload-lease.ts";

const mostParts = 4_096;

type IncomingBytes = {
  id: string;
  length: number;
  /** Hex digest of all these bytes. */
  sha256: string;
  /** Nothing is done under the lease afterwards. */
  isLast: boolean;
  signal: AbortSignal;
};

/** Adds the bytes in parts of at most 32 MiB; the last of them only when the digest matches. */
export async function receiveBytes(
  contexts: Pick<ContextStore, "put">,
  lease: UploadLease,
  { body, id, length, sha256, isLast, signal }: IncomingBytes & { body: AsyncIterable<Uint8Array> },
): Promise<void> {
  const stop = AbortSignal.any([signal, lease.signal]);
  const expected = verified(body, { size: length, sha256 }, asMismatch);
  const source = lease.received === 0 ? assertArchive(expected) : expected;
  const chunks = splitter(source[Symbol.asyncIterator]());
  try {
    for (let left = length; left > 0; ) {
      assertFewParts(lease);
      const part = { name: newBlobName(id, "part"), size: Math.min(left, submissions.contextPartBytes) };
      await contexts.put(part.name, chunks.take(part.size), stop).catch((error: unknown) => {
        // The reason is more than that it was aborted.
        throw lease.signal.aborted ? lease.signal.reason : error;
      });
      left -= part.size;
      await lease.add(part, { isLast: isLast && left === 0 });
    }
  } finally {
    await source.return(undefined);
  }
}

function assertFewParts({ parts }: UploadLease): void {
  if (parts.length < mostParts) return;
  const message = `A context may come in at most ${mostParts} parts; begin again with larger ones.`;
  throw new Fault("bad_request", { message });
}

function asMismatch({ why }: Pick<Mismatch, "why">): Fault {
  if (why === "digest") return new Fault("digest_mismatch");
  return new Fault("bad_request", { message: "The body does not have the length that it declares." });
}

/** First bytes of gzip and of a zip. */
const magics = [Buffer.from([0x1f, 0x8b]), Buffer.from("PK")];

async function* assertArchive(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head.length < 2) {
      head = Buffer.concat([head, chunk.subarray(0, 2 - head.length)]);
      if (!magics.some((magic) => magic.subarray(0, head.length).equals(head)))
        throw new Fault("bad_request", {
          message: "The context must be a gzip tarball with a Dockerfile, or the zip of a pack (.mrpack).",
        });
    }
    yield chunk;
  }
}

/** Cuts one stream of chunks into several. */
export function splitter(source: AsyncIterator<Uint8Array>) {
  let rest: Uint8Array | undefined;
  return {
    take: async function* (bytes: number): AsyncGenerator<Uint8Array> {
      for (let left = bytes; left > 0; ) {
        const next = rest ?? (await source.next()).value;
        if (next === undefined) throw asMismatch({ why: "length" });
        const chunk = next.subarray(0, left);
        rest = chunk.length < next.length ? next.subarray(chunk.length) : undefined;
        left -= chunk.length;
        yield chunk.length === next.length ? next : chunk;
      }
    },
  };
}
