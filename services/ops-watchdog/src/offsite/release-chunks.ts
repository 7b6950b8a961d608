import { releaseChunk } from "@svc/mesh";
import { type KeyRing, open } from "@svc/sealed";

/**
 * The chunks of a source that nobody else has; each is freed, and empty, when the next one is asked for. For readers that
 * are done with a chunk by then: they hash it, copy it, or have handed it to the kernel. One that gives up frees nothing.
 */
export async function* releaseChunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    yield chunk;
    releaseChunk(chunk);
  }
}

/** The plaintext of an object as it is received; sealed chunks are freed as they are opened. The caller frees its own. */
export function openReceived(sealed: AsyncIterable<Uint8Array>, ring: KeyRing): AsyncGenerator<Buffer> {
  return open(releaseChunks(sealed), ring);
}
