// JSON as bytes on the wire.

const encoder = new TextEncoder();

/** Bytes of a JSON value. */
export function encodeJson(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

/** Text of received bytes, without copying them first. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
