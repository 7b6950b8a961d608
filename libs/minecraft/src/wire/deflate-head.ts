// The first bytes of what a zlib stream (RFC 1950, 1951) inflates to, and nothing of the rest: an id costs a microsecond
// and no memory, whatever the stream claims. The client's own zlib must read the same, or an id could be hidden from us.

import { MinecraftFault } from "../fault.ts";

/** The tables of a block come first; they have no right to be longer. */
const maxHeadBytes = 1_024;
const maxCodeBits = 15;

const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const lengthBases = [
  ...[3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31],
  ...[35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258],
];
const lengthExtras = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const distanceBases = [1, 2, 3, 4, 5, 7, 9, 13];
const distanceExtras = [0, 0, 0, 0, 1, 1, 2, 2];

const damaged = () => new MinecraftFault("frame", "a compressed packet is damaged");

/** A canonical Huffman code: how many codes have each length, and the symbols in their order. */
type Code = { readonly counts: Uint16Array; readonly symbols: Uint16Array };

function codeOf(lengths: Uint8Array): Code {
  const counts = new Uint16Array(maxCodeBits + 1);
  for (const length of lengths) counts[length] = (counts[length] as number) + 1;
  counts[0] = 0;
  const next = new Uint16Array(maxCodeBits + 2);
  for (let bits = 1; bits <= maxCodeBits; bits++)
    next[bits + 1] = (next[bits] as number) + (counts[bits] as number);
  const symbols = new Uint16Array(lengths.length);
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol] as number;
    if (length === 0) continue;
    const place = next[length] as number;
    symbols[place] = symbol;
    next[length] = place + 1;
  }
  return { counts, symbols };
}

const fixed = {
  lengths: codeOf(
    Uint8Array.from({ length: 288 }, (_, symbol) =>
      symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8,
    ),
  ),
  distances: codeOf(new Uint8Array(30).fill(5)),
};

class BitReader {
  readonly bytes: Buffer;
  readonly end: number;
  at: number;
  #held = 0;
  #count = 0;

  constructor(bytes: Buffer, at: number, end: number) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  bits(count: number): number {
    while (this.#count < count) {
      if (this.at >= this.end) throw damaged();
      this.#held |= (this.bytes[this.at++] as number) << this.#count;
      this.#count += 8;
    }
    const taken = this.#held & ((1 << count) - 1);
    this.#held >>>= count;
    this.#count -= count;
    return taken;
  }

  symbol({ counts, symbols }: Code): number {
    let [code, first, index] = [0, 0, 0];
    for (let length = 1; length <= maxCodeBits; length++) {
      code |= this.bits(1);
      const count = counts[length] as number;
      if (code - count < first) return symbols[index + (code - first)] as number;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw damaged();
  }

  /** A stored block begins at a whole byte; fewer than eight bits are held here. */
  align(): void {
    this.#held = 0;
    this.#count = 0;
  }
}

/** Lengths of both codes of a dynamic block, themselves packed by a third. */
function dynamicCodes(reader: BitReader): { lengths: Code; distances: Code } {
  const [literals, distances, packed] = [reader.bits(5) + 257, reader.bits(5) + 1, reader.bits(4) + 4];
  if (literals > 286 || distances > 30) throw damaged();
  const ofLengths = new Uint8Array(19);
  for (let index = 0; index < packed; index++) ofLengths[lengthOrder[index] as number] = reader.bits(3);
  const code = codeOf(ofLengths);
  const lengths = new Uint8Array(literals + distances);
  for (let index = 0; index < lengths.length; ) {
    const symbol = reader.symbol(code);
    if (symbol < 16) {
      lengths[index++] = symbol;
      continue;
    }
    if (symbol === 16 && index === 0) throw damaged();
    const value = symbol === 16 ? (lengths[index - 1] as number) : 0;
    const times =
      symbol === 16 ? 3 + reader.bits(2) : symbol === 17 ? 3 + reader.bits(3) : 11 + reader.bits(7);
    if (index + times > lengths.length) throw damaged();
    lengths.fill(value, index, index + times);
    index += times;
  }
  return { lengths: codeOf(lengths.subarray(0, literals)), distances: codeOf(lengths.subarray(literals)) };
}

type Sink = { readonly out: number[]; readonly want: number };

function readCoded(reader: BitReader, codes: { lengths: Code; distances: Code }, { out, want }: Sink): void {
  while (out.length < want) {
    const symbol = reader.symbol(codes.lengths);
    if (symbol === 256) return;
    if (symbol < 256) {
      out.push(symbol);
      continue;
    }
    const length = (lengthBases[symbol - 257] ?? Number.NaN) + reader.bits(lengthExtras[symbol - 257] ?? 0);
    const place = reader.symbol(codes.distances);
    const distance = (distanceBases[place] ?? Number.NaN) + reader.bits(distanceExtras[place] ?? 0);
    // Nothing lies so far back yet.
    if (!(distance <= out.length) || Number.isNaN(length)) throw damaged();
    for (let copied = 0; copied < length && out.length < want; copied++)
      out.push(out[out.length - distance] as number);
  }
}

function readStored(reader: BitReader, { out, want }: Sink): void {
  reader.align();
  const [length, inverse] = [reader.bits(16), reader.bits(16)];
  if (length !== (~inverse & 0xffff)) throw damaged();
  for (let index = 0; index < length && out.length < want; index++) out.push(reader.bits(8));
}

/**
 * The first `want` bytes, or fewer when the stream holds fewer. `want` is small: an id has at most five.
 * @throws MinecraftFault `frame` for what no zlib stream begins with
 */
export function deflateHead(
  bytes: Buffer,
  { start, end }: { start: number; end: number },
  want: number,
): number[] {
  const [method = 0, flags = 0] = [bytes[start], bytes[start + 1]];
  const isZlib = (method & 0x0f) === 8 && method >> 4 <= 7 && ((method << 8) | flags) % 31 === 0;
  if (!isZlib || (flags & 0x20) !== 0) throw damaged();
  const reader = new BitReader(bytes, start + 2, Math.min(end, start + maxHeadBytes));
  const sink: Sink = { out: [], want };
  for (let isLast = false; !isLast && sink.out.length < want; ) {
    isLast = reader.bits(1) === 1;
    const kind = reader.bits(2);
    if (kind === 3) throw damaged();
    if (kind === 0) readStored(reader, sink);
    else readCoded(reader, kind === 1 ? fixed : dynamicCodes(reader), sink);
  }
  return sink.out;
}
