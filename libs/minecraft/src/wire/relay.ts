import { constants, inflateSync } from "node:zlib";
import { MinecraftFault } from "../fault.ts";
import { Reader } from "./bytes.ts";
import type { Connection } from "./connection.ts";
import { decodeFrame } from "./frame.ts";

/** `count` learns of the id while the frame passes; `look` sees the whole packet and may drop it. Other ids pass unseen. */
export type Interest = "count" | "look";

/**
 * Passes frames to `to` without decoding them. Only packets whose id is in `tap` are looked at. `tap` is read anew for
 * every frame, so a packet that changes the protocol state can put another one in its place.
 */
export type Relay = {
  readonly to: Connection;
  tap: ReadonlyMap<number, Interest>;
  /** For ids to `look` at; true drops the frame. `body` is id and fields, inflated. */
  readonly onPacket: (id: number, body: Buffer) => boolean;
  /** For ids to `count`. Called while the frame waits to be passed: it must not write to `to`. */
  readonly onPassed: (id: number) => void;
  /** Compressed frames that inflate to at most this many bytes are looked into for their id; the others pass unseen. */
  readonly peekBytes: number;
  /** A packet to `look` at that inflates to more than this closes its connection. */
  readonly lookBytes?: number;
  /** Both peers compress differently: take every frame apart and build it anew. */
  readonly reframe: boolean;
};

type Used = { readonly bytes: number; readonly needed: number };

/** Walks the whole frames of `bytes`. One write for each run of frames that nobody looked at. */
export function relayChunk(from: Connection, relay: Relay, bytes: Buffer): Used {
  const end = bytes.length;
  const limit = from.frameLimit;
  const isPacked = from.threshold >= 0;
  let watched = watchedBy(relay);
  let offset = 0;
  let runStart = 0;
  let needed = 1;
  while (offset < end) {
    // Length and id are read in place: this loop is the cost of a packet.
    let start = offset + 1;
    let length = bytes[offset] as number;
    if (length > 0x7f) {
      const second = bytes[start++];
      if (second === undefined) {
        needed = end - offset + 1;
        break;
      }
      length = (length & 0x7f) | ((second & 0x7f) << 7);
      if (second > 0x7f) {
        const third = bytes[start++];
        if (third === undefined) {
          needed = end - offset + 1;
          break;
        }
        if (third > 0x7f) throw new MinecraftFault("frame", "a frame's length is longer than 3 bytes");
        length |= third << 14;
      }
    }
    if (length === 0 || length > limit)
      throw new MinecraftFault("frame", `a frame of ${length} bytes is refused`);
    const next = start + length;
    if (next > end) {
      needed = next - offset;
      break;
    }
    const isUnseen = isPacked
      ? bytes[start] === 0 && watched[bytes[start + 1] as number] === 0
      : watched[bytes[start] as number] === 0;
    if (!isUnseen) {
      runStart = meet(from, relay, { bytes, runStart, offset, start, next });
      // The frame may have ended the relay, held it up, or changed what is watched.
      if (!from.isRelaying(relay)) {
        offset = next;
        break;
      }
      watched = watchedBy(relay);
    }
    offset = next;
  }
  if (offset > runStart) pass(from, relay, bytes.subarray(runStart, offset));
  return { bytes: offset, needed };
}

type Frame = { bytes: Buffer; runStart: number; offset: number; start: number; next: number };

/** A frame that may be of interest; answers where the run of frames to pass on starts then. */
function meet(from: Connection, relay: Relay, { bytes, runStart, offset, start, next }: Frame): number {
  if (relay.reframe) {
    rebuild(from, relay, bytes.subarray(start, next));
    return next;
  }
  const id = idOf(from, relay, bytes, start);
  const interest = id === undefined ? undefined : relay.tap.get(id);
  if (id === undefined || interest === undefined) return runStart;
  if (interest === "count") {
    relay.onPassed(id);
    return runStart;
  }
  if (offset > runStart) pass(from, relay, bytes.subarray(runStart, offset));
  const content = bytes.subarray(start, next);
  const isDropped = relay.onPacket(id, decodeFrame(content, from.threshold, lookLimit(from, relay)));
  return isDropped ? next : offset;
}

const everything = new Uint8Array(256).fill(1);
const watchedOf = new WeakMap<ReadonlyMap<number, Interest>, Uint8Array>();

/** Which first bytes of an id call for a look: those in the tap, and those of every longer one. */
function watchedBy({ tap, reframe }: Relay): Uint8Array {
  if (reframe) return everything;
  const known = watchedOf.get(tap);
  if (known) return known;
  const watched = Uint8Array.from({ length: 256 }, (_, first) => (first > 0x7f || tap.has(first) ? 1 : 0));
  watchedOf.set(tap, watched);
  return watched;
}

function pass(from: Connection, relay: Relay, bytes: Buffer): void {
  if (!relay.to.write(bytes)) from.waitFor(relay.to);
}

/** The packet's id, or undefined for a compressed frame too large to look into. The common case costs one byte's read. */
function idOf(from: Connection, relay: Relay, bytes: Buffer, start: number): number | undefined {
  if (from.threshold < 0) return idAt(bytes, start);
  if (bytes[start] === 0) return idAt(bytes, start + 1);
  const reader = new Reader(bytes, start);
  const size = reader.varint();
  return size <= relay.peekBytes
    ? peekId(bytes.subarray(reader.offset, reader.offset + 512), size)
    : undefined;
}

function idAt(bytes: Buffer, offset: number): number {
  const first = bytes[offset] ?? 0;
  if (first < 0x80) return first;
  const second = bytes[offset + 1] ?? 0;
  // An id may be written longer than it has to be: it must not slip past the tap that way.
  return second < 0x80 ? (first & 0x7f) | (second << 7) : new Reader(bytes, offset).varint();
}

/** The id of a compressed packet from its first bytes, so that a large packet is not inflated for nothing. */
function peekId(head: Buffer, size: number): number {
  try {
    const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: size };
    return new Reader(inflateSync(head, options)).varint();
  } catch {
    throw new MinecraftFault("frame", "a compressed packet is damaged");
  }
}

function lookLimit(from: Connection, { lookBytes }: Relay): number {
  return Math.min(from.inflatedLimit, lookBytes ?? Number.POSITIVE_INFINITY);
}

/** The slow way, for a backend with another compression than the client's. */
function rebuild(from: Connection, relay: Relay, content: Buffer): void {
  const body = decodeFrame(content, from.threshold, from.inflatedLimit);
  const id = new Reader(body).varint();
  const interest = relay.tap.get(id);
  if (interest === "count") relay.onPassed(id);
  if (interest === "look" && relay.onPacket(id, body)) return;
  if (!relay.to.sendBody(body)) from.waitFor(relay.to);
}
