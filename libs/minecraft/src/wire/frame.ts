import { deflateSync, inflateSync } from "node:zlib";
import { MinecraftFault } from "../fault.ts";
import { Reader, varint } from "./bytes.ts";

/** The protocol's own limit of a frame: what a 3-byte VarInt can say. */
export const maxFrameBytes = 2_097_151;
/** The protocol's limit of a packet after inflation. */
export const maxInflatedBytes = 8_388_608;

/** Frames a packet (id and fields) as the wire wants it; a `threshold` below 0 is no compression. */
export function encodeFrame(body: Buffer, threshold: number): Buffer {
  if (threshold < 0) return Buffer.concat([varint(body.length), body]);
  if (body.length < threshold) return Buffer.concat([varint(body.length + 1), Buffer.of(0), body]);
  const packed = deflateSync(body);
  const size = varint(body.length);
  return Buffer.concat([varint(size.length + packed.length), size, packed]);
}

/** Takes the compression off a frame's content. A packet that inflates to another size than it says is refused. */
export function decodeFrame(content: Buffer, threshold: number, limit = maxInflatedBytes): Buffer {
  if (threshold < 0) return content;
  const reader = new Reader(content);
  const size = reader.varint();
  if (size === 0) return reader.rest();
  if (size < 0 || size > limit)
    throw new MinecraftFault("frame", `a packet says it inflates to ${size} bytes`);
  const inflated = inflate(reader.rest(), size);
  if (inflated.length !== size)
    throw new MinecraftFault("frame", "a packet inflates to another size than it says");
  return inflated;
}

function inflate(packed: Buffer, size: number): Buffer {
  try {
    return inflateSync(packed, { maxOutputLength: size });
  } catch {
    throw new MinecraftFault("frame", "a compressed packet is damaged or larger than it says");
  }
}
