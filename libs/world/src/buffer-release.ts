// Frees the memory of large buffers as soon as nobody needs it. The garbage collector would do that too, but it runs for
// every few MiB of them and returns cold memory: together a third of the time of a backup. A freed buffer is empty, so a
// late reader finds nothing, never somebody else's bytes. Retain a buffer while the kernel reads from it or writes to it.

/**
 * Frees the memory behind a consumed part; all parts of that memory are empty afterwards. For streams whose parts follow
 * one another in the same memory and are consumed in order: only the last part frees it.
 */
export function releaseConsumed(part: Buffer): void {
  if (isOwn(part) && part.byteOffset + part.length === part.buffer.byteLength) free(part);
}

/** Frees the memory of a consumed chunk that has it for itself; chunks of a pool and parts of others stay as they are. */
export function freeWhole(chunk: Uint8Array): void {
  const { buffer, byteLength } = chunk;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

const references = new WeakMap<ArrayBufferLike, number>();

/** Starts counting references to a buffer, with one for the caller, who releases it when the next one is requested. */
export function shareBuffer(whole: Buffer): void {
  if (isOwn(whole)) references.set(whole.buffer, 1);
}

/** Adds a reference, to be dropped by `releaseBuffer`. Neither touches memory that nobody shared. */
export function retainBuffer(part: Buffer): void {
  const count = references.get(part.buffer);
  if (count !== undefined) references.set(part.buffer, count + 1);
}

/** Drops a reference; the last one frees the memory. */
export function releaseBuffer(part: Buffer): void {
  const count = references.get(part.buffer);
  if (count === undefined) return;
  references.set(part.buffer, count - 1);
  if (count > 1) return;
  references.delete(part.buffer);
  free(part);
}

/** Small buffers share their memory with unrelated ones. */
function isOwn({ buffer }: Buffer): boolean {
  return buffer instanceof ArrayBuffer && buffer.byteLength > Buffer.poolSize;
}

function free({ buffer }: Buffer): void {
  (buffer as ArrayBuffer).transfer(0);
}
