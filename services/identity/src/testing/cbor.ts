// The part of CBOR that authenticators write (RFC 8949): integers, bytes, texts, lists and maps. Keys keep their order.

export function encode(value: unknown): Buffer {
  if (typeof value === "number") return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    return Buffer.concat([head(3, bytes.length), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(encode)]);
  if (value instanceof Map) {
    const pairs = [...value].flatMap(([key, item]) => [encode(key), encode(item)]);
    return Buffer.concat([head(5, value.size), ...pairs]);
  }
  if (typeof value === "object" && value !== null) return encode(new Map(Object.entries(value)));
  throw new Error(`no CBOR for ${typeof value}`);
}

/** The first bytes of an item: its major type and its length or value. */
export function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  const [size, info] = value < 0x100 ? [1, 24] : value < 0x10000 ? [2, 25] : [4, 26];
  const bytes = Buffer.alloc(1 + size);
  bytes.writeUInt8((major << 5) | info, 0);
  bytes.writeUIntBE(value, 1, size);
  return bytes;
}

/** The bytes of a base64url text. */
export function bytesOf(text: string | undefined): Buffer {
  return Buffer.from(text ?? "", "base64url");
}
