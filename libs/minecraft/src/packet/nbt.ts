import { MinecraftFault } from "../fault.ts";

/** A value NBT can say. Numbers become doubles, booleans bytes; `nbtInt` makes an int. A list holds one kind of value. */
export type NbtValue =
  | string
  | number
  | boolean
  | NbtInt
  | readonly NbtValue[]
  | { readonly [key: string]: NbtValue | undefined };
/** An int among doubles. */
type NbtInt = { readonly $int: number };

/** Marks a number as an NBT int. */
export const nbtInt = (value: number): NbtInt => ({ $int: value });

const maxDepth = 64;

/** Encodes a nameless root, as packets carry it since 1.20.2. */
export function encodeNbt(value: NbtValue): Buffer {
  return Buffer.concat([Buffer.of(tagOf(value)), payload(value)]);
}

const isInt = (value: object): value is NbtInt => "$int" in value;

function tagOf(value: NbtValue): number {
  if (typeof value === "string") return 8;
  if (typeof value === "number") return 6;
  if (typeof value === "boolean") return 1;
  if (Array.isArray(value)) return 9;
  return isInt(value) ? 3 : 10;
}

function payload(value: NbtValue): Buffer {
  if (typeof value === "string") return modifiedString(value);
  if (typeof value === "boolean") return Buffer.of(value ? 1 : 0);
  if (typeof value === "number") {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeDoubleBE(value);
    return bytes;
  }
  if (Array.isArray(value)) return list(value as readonly NbtValue[]);
  return isInt(value)
    ? intBytes(value.$int)
    : compound(value as { readonly [key: string]: NbtValue | undefined });
}

function list(values: readonly NbtValue[]): Buffer {
  const first = values[0];
  const tag = first === undefined ? 0 : tagOf(first);
  if (values.some((value) => tagOf(value) !== tag))
    throw new TypeError("an NBT list holds one kind of value");
  return Buffer.concat([Buffer.of(tag), intBytes(values.length), ...values.map(payload)]);
}

function compound(fields: { readonly [key: string]: NbtValue | undefined }): Buffer {
  const parts: Buffer[] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) parts.push(Buffer.of(tagOf(value)), modifiedString(key), payload(value));
  }
  return Buffer.concat([...parts, Buffer.of(0)]);
}

function intBytes(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Java's modified UTF-8: U+0000 as two bytes, everything beyond the base plane as two surrogates of three bytes. */
function modifiedString(text: string): Buffer {
  const bytes: number[] = [];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0 && unit < 0x80) bytes.push(unit);
    else if (unit < 0x800) bytes.push(0xc0 | (unit >> 6), 0x80 | (unit & 0x3f));
    else bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
  }
  if (bytes.length > 65_535) throw new RangeError("an NBT string holds at most 65535 bytes");
  return Buffer.from([bytes.length >> 8, bytes.length & 0xff, ...bytes]);
}

function readModifiedString(bytes: Buffer): string {
  let text = "";
  for (let index = 0; index < bytes.length; ) {
    const first = bytes[index++] ?? 0;
    if (first < 0x80) text += String.fromCharCode(first);
    else if (first < 0xe0)
      text += String.fromCharCode(((first & 0x1f) << 6) | ((bytes[index++] ?? 0) & 0x3f));
    else {
      const second = (bytes[index++] ?? 0) & 0x3f;
      text += String.fromCharCode(((first & 0x0f) << 12) | (second << 6) | ((bytes[index++] ?? 0) & 0x3f));
    }
  }
  return text;
}

/** Decodes a nameless root. Hostile depth, lengths and tags are refused as `frame`. Longs become bigint. */
export function decodeNbt(bytes: Buffer): unknown {
  let offset = 0;
  let left = 100_000;
  const take = (length: number): Buffer => {
    left -= 1;
    if (left < 0 || length < 0 || offset + length > bytes.length)
      throw new MinecraftFault("frame", "NBT is cut off or endless");
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  const count = () => take(4).readInt32BE();
  const text = () => readModifiedString(take(take(2).readUInt16BE()));
  const readers: Record<number, (depth: number) => unknown> = {
    1: () => take(1).readInt8(),
    2: () => take(2).readInt16BE(),
    3: count,
    4: () => take(8).readBigInt64BE(),
    5: () => take(4).readFloatBE(),
    6: () => take(8).readDoubleBE(),
    7: () => [...take(count())],
    8: text,
    9: (depth) => {
      const tag = take(1).readUInt8();
      const length = count();
      return Array.from({ length: tag === 0 ? 0 : Math.max(0, Math.min(length, left)) }, () =>
        read(tag, depth + 1),
      );
    },
    10: (depth) => {
      const fields: Record<string, unknown> = Object.create(null);
      for (let tag = take(1).readUInt8(); tag !== 0; tag = take(1).readUInt8())
        fields[text()] = read(tag, depth + 1);
      return fields;
    },
    11: () => take(4 * count()),
    12: () => take(8 * count()),
  };
  const read = (tag: number, depth: number): unknown => {
    const reader = readers[tag];
    if (!reader || depth > maxDepth)
      throw new MinecraftFault("frame", `NBT tag ${tag} at depth ${depth} is refused`);
    return reader(depth);
  };
  return read(take(1).readUInt8(), 0);
}
