import { MinecraftFault } from "../fault.ts";

/** Encodes a VarInt: 1 to 5 bytes, negative numbers always 5. */
export function varint(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(5);
  let rest = value >>> 0;
  let length = 0;
  while (rest > 0x7f) {
    bytes[length++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[length++] = rest;
  return bytes.subarray(0, length);
}

/** Encodes a protocol string: VarInt byte length, then UTF-8. */
export function string(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  return Buffer.concat([varint(bytes.length), bytes]);
}

/** Encodes bytes behind their VarInt length. */
export const byteArray = (bytes: Buffer): Buffer => Buffer.concat([varint(bytes.length), bytes]);

/** Encodes a boolean as one byte. */
export const bool = (value: boolean): Buffer => Buffer.of(value ? 1 : 0);

/** Encodes an unsigned 16-bit number, big-endian. */
export const ushort = (value: number): Buffer => Buffer.of((value >> 8) & 0xff, value & 0xff);

/** Encodes a signed 32-bit number, big-endian. */
export function int(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}

const short = () => new MinecraftFault("frame", "a packet ends before its content does");

/** Reads a packet's fields in order. Every read checks the bounds and throws a `frame` fault beyond them. */
export class Reader {
  readonly bytes: Buffer;
  offset: number;

  constructor(bytes: Buffer, offset = 0) {
    this.bytes = bytes;
    this.offset = offset;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; shift <= 28; shift += 7) {
      const byte = this.bytes[this.offset++];
      if (byte === undefined) throw short();
      value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) === 0) return value;
    }
    throw new MinecraftFault("frame", "a VarInt is longer than 5 bytes");
  }

  /** `max` counts UTF-16 units, as the protocol does; more is refused before anything is decoded. */
  string(max = 32_767): string {
    const length = this.varint();
    if (length < 0 || length > max * 3) throw new MinecraftFault("frame", `a string is longer than ${max}`);
    const text = this.take(length).toString("utf8");
    if (text.length > max) throw new MinecraftFault("frame", `a string is longer than ${max}`);
    return text;
  }

  take(length: number): Buffer {
    if (length < 0 || this.offset + length > this.bytes.length) throw short();
    const taken = this.bytes.subarray(this.offset, this.offset + length);
    this.offset += length;
    return taken;
  }

  /** Bytes behind a VarInt length of at most `max`. */
  byteArray(max: number): Buffer {
    const length = this.varint();
    if (length < 0 || length > max) throw new MinecraftFault("frame", `a byte array is longer than ${max}`);
    return this.take(length);
  }

  bool(): boolean {
    return this.take(1)[0] !== 0;
  }

  ubyte(): number {
    return this.take(1)[0] ?? 0;
  }

  ushort(): number {
    return this.take(2).readUInt16BE();
  }

  short(): number {
    return this.take(2).readInt16BE();
  }

  int(): number {
    return this.take(4).readInt32BE();
  }

  long(): bigint {
    return this.take(8).readBigInt64BE();
  }

  rest(): Buffer {
    return this.take(this.bytes.length - this.offset);
  }
}
