// Memory of large buffers, given back when nobody needs it any more. The collector would do that too, but it runs for every
// few MiB of them, and what it frees comes back cold: together a third of the time of a backup. Memory that was given back
// leaves empty buffers, so whoever reads too late finds nothing, never somebody else's bytes; what the kernel still reads
// from or writes to must be held.

/**
 * Frees the memory of a part that was used; it and all other parts of it are empty afterwards. For streams whose parts
 * follow one another in the same memory and are used in order: only the last part of it frees it.
 */
export function release(part: Buffer): void {
  if (isOwn(part) && part.byteOffset + part.length === part.buffer.byteLength) free(part);
}

const holders = new WeakMap<ArrayBufferLike, number>();

/** Hands a buffer to whoever reads parts of it. The lender lets go when the next one is asked for. */
export function lend(whole: Buffer): void {
  if (isOwn(whole)) holders.set(whole.buffer, 1);
}

/** Keeps what was lent until `letGo` is called as often as this. Memory that nobody lent is left alone by both. */
export function hold(part: Buffer): void {
  const count = holders.get(part.buffer);
  if (count !== undefined) holders.set(part.buffer, count + 1);
}

/** Frees what was lent when this was the last who held it. */
export function letGo(part: Buffer): void {
  const count = holders.get(part.buffer);
  if (count === undefined) return;
  holders.set(part.buffer, count - 1);
  if (count > 1) return;
  holders.delete(part.buffer);
  free(part);
}

/** Small buffers share their memory with strangers. */
function isOwn({ buffer }: Buffer): boolean {
  return buffer instanceof ArrayBuffer && buffer.byteLength > Buffer.poolSize;
}

function free({ buffer }: Buffer): void {
  (buffer as ArrayBuffer).transfer(0);
}
