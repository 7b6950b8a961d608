/**
 * Frees the memory of a chunk that nobody reads any more, if it has that memory for itself; the chunk is empty then. The
 * garbage collector would take it only after many megabytes of chunks, each in fresh memory, and walk the whole heap for
 * them. Never call it while the kernel may still read the chunk.
 */
export function releaseChunk({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
