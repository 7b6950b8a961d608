// The chunks of an archive in order, 44 bytes for each of them: a large world has a million.

const digestBytes = 32;
/** The SHA-256 of the chunk, then as big-endian uint32 the number of its pack, where it begins there, and its length. */
export const entryBytes = digestBytes + 12;

export type ChunkPlace = { pack: number; at: number; length: number };

export class ChunkList {
  #entries: Buffer;
  #count: number;
  /** Numbers of chunks plus one, by the first bytes of their digests; at least half of the slots are 0. */
  #slots = new Uint32Array(0);

  /** Takes over the entries. */
  constructor(entries: Buffer = Buffer.alloc(0)) {
    this.#entries = entries;
    this.#count = entries.length / entryBytes;
  }

  get count(): number {
    return this.#count;
  }

  /** As they are in a manifest. */
  entries(): Buffer {
    return this.#entries.subarray(0, this.#count * entryBytes);
  }

  digestOf(index: number): Buffer {
    return this.#entries.subarray(index * entryBytes, index * entryBytes + digestBytes);
  }

  placeOf(index: number): ChunkPlace {
    const at = index * entryBytes + digestBytes;
    const entries = this.#entries;
    return {
      pack: entries.readUInt32BE(at),
      at: entries.readUInt32BE(at + 4),
      length: entries.readUInt32BE(at + 8),
    };
  }

  add(digest: Buffer, { pack, at, length }: ChunkPlace): void {
    const from = this.#count * entryBytes;
    if (from === this.#entries.length) this.#grow();
    const entries = this.#entries;
    digest.copy(entries, from);
    entries.writeUInt32BE(pack, from + digestBytes);
    entries.writeUInt32BE(at, from + digestBytes + 4);
    entries.writeUInt32BE(length, from + digestBytes + 8);
    this.#count += 1;
    if (this.#slots.length === 0) return;
    if (this.#isCrowded()) this.#indexAll();
    else this.#index(this.#count - 1);
  }

  /** The first chunk with this digest. */
  find(digest: Buffer): number | undefined {
    if (this.#slots.length === 0) this.#indexAll();
    for (let slot = this.#slotOf(digest); ; slot = (slot + 1) % this.#slots.length) {
      const known = this.#slots[slot] ?? 0;
      if (known === 0) return undefined;
      if (this.digestOf(known - 1).equals(digest)) return known - 1;
    }
  }

  #slotOf(digest: Buffer): number {
    return digest.readUInt32LE(0) % this.#slots.length;
  }

  #index(index: number): void {
    let slot = this.#slotOf(this.digestOf(index));
    while (this.#slots[slot] !== 0) slot = (slot + 1) % this.#slots.length;
    this.#slots[slot] = index + 1;
  }

  #indexAll(): void {
    this.#slots = new Uint32Array(Math.max(64, 4 * this.#count));
    for (let index = 0; index < this.#count; index += 1) this.#index(index);
  }

  #grow(): void {
    const larger = Buffer.alloc(Math.max(1_024 * entryBytes, 2 * this.#entries.length));
    this.#entries.copy(larger);
    this.#entries = larger;
  }

  #isCrowded(): boolean {
    return this.#slots.length < 2 * this.#count;
  }
}
