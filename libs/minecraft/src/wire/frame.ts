import { deflate, deflateSync, inflate, inflateSync } from "node:zlib";
import { MinecraftFault } from "../fault.ts";
import { Reader, varint } from "./bytes.ts";

/** The protocol's own limit of a frame: what a 3-byte VarInt can say. */
export const maxFrameBytes = 2_097_151;
/** The protocol's limit of a packet after inflation. */
export const maxInflatedBytes = 8_388_608;
/** Up to here a packet may be packed as tightly as it likes: a tall world under an open sky is a MiB of one byte. */
const anyRatioBytes = 2_097_152;
/** Above it no game packs tighter; a bomb does. */
const maxRatio = 200;

/** Frames a packet (id and fields) as the wire wants it; a `threshold` below 0 means no compression. */
export function encodeFrame(body: Buffer, threshold: number): Buffer {
  if (threshold < 0) return Buffer.concat([varint(body.length), body]);
  if (body.length < threshold) return Buffer.concat([varint(body.length + 1), Buffer.of(0), body]);
  return packedFrame(body.length, deflateSync(body));
}

function packedFrame(length: number, packed: Buffer): Buffer {
  const size = varint(length);
  return Buffer.concat([varint(size.length + packed.length), size, packed]);
}

/** As `encodeFrame` for a large packet that is to be compressed: in the pool, where it holds nobody up. */
export function encodeInPool(body: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    deflate(body, (error, packed) => (error ? reject(error) : resolve(packedFrame(body.length, packed)))),
  );
}

/** Takes the compression off a frame's content. A packet that inflates to another size than it says is refused. */
export function decodeFrame(content: Buffer, threshold: number, limit = maxInflatedBytes): Buffer {
  if (threshold < 0) return content;
  const { size, packed } = contentOf(content, limit);
  if (size === 0) return packed;
  try {
    return ofSize(inflateSync(packed, { maxOutputLength: size }), size);
  } catch {
    throw damaged();
  }
}

/** As `decodeFrame` for a large packet: in the pool, where it holds nobody up. */
export function decodeInPool(content: Buffer, limit: number): Promise<Buffer> {
  const { size, packed } = contentOf(content, limit);
  return new Promise((resolve, reject) =>
    inflate(packed, { maxOutputLength: size }, (error, body) =>
      error || body.length !== size ? reject(damaged()) : resolve(body),
    ),
  );
}

function contentOf(content: Buffer, limit: number): { size: number; packed: Buffer } {
  const reader = new Reader(content);
  const size = reader.varint();
  if (size !== 0) checkClaim(size, content.length, limit);
  return { size, packed: reader.rest() };
}

/** Refuses what no packet inflates to, before anything is inflated. */
export function checkClaim(size: number, frameBytes: number, limit: number): void {
  if (size < 1 || size > limit)
    throw new MinecraftFault("frame", `a packet says it inflates to ${size} bytes`);
  if (size > anyRatioBytes && size > maxRatio * frameBytes)
    throw new MinecraftFault("frame", `a frame of ${frameBytes} bytes says it inflates to ${size}`);
}

function ofSize(body: Buffer, size: number): Buffer {
  if (body.length === size) return body;
  throw damaged();
}

const damaged = () =>
  new MinecraftFault("frame", "a compressed packet is damaged or inflates to another size than it says");
