import { MinecraftFault } from "../fault.ts";
import { Reader } from "./bytes.ts";
import type { Connection, Used } from "./connection.ts";
import { deflateHead } from "./deflate-head.ts";
import { checkClaim, decodeFrame, maxInflatedBytes } from "./frame.ts";
import { areUnlike, mustRebuild, rebuild } from "./rebuild.ts";
import { type Interest, inspectLimit, pass, type Relay } from "./relay.ts";
import { workOf } from "./work.ts";

/** Passes the frames of `from` on until `from.stop()`. */
export function startRelay(from: Connection, relay: Relay): void {
  from.readChunks(relay, (bytes) => relayChunk(from, relay, bytes));
}

/** Walks the whole frames of `bytes`. One write for each run of frames that nobody wanted to see. */
function relayChunk(from: Connection, relay: Relay, bytes: Buffer): Used {
  const end = bytes.length;
  const limit = from.frameLimit;
  const isPacked = from.threshold >= 0;
  let watched = watchedBy(from, relay);
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
      if (!from.isReading(relay)) {
        offset = next;
        break;
      }
      watched = watchedBy(from, relay);
    }
    offset = next;
  }
  if (offset > runStart) pass(from, relay, bytes.subarray(runStart, offset));
  return { bytes: offset, needed };
}

type Frame = { bytes: Buffer; runStart: number; offset: number; start: number; next: number };

/** A frame that may be of interest; answers where the run of frames to pass on starts then. */
function meet(from: Connection, relay: Relay, { bytes, runStart, offset, start, next }: Frame): number {
  const place = from.threshold < 0 ? { size: 0, at: start } : placeOf(bytes, start, next);
  if (place.size !== 0) checkClaim(place.size, next - start, maxInflatedBytes);
  if (mustRebuild(from, relay.to, place.size)) {
    if (offset > runStart) pass(from, relay, bytes.subarray(runStart, offset));
    rebuild(from, relay, bytes.subarray(start, next));
    return next;
  }
  const id = idOf(from, relay, { bytes, ...place, next });
  const interest = id === undefined ? undefined : relay.filter.get(id);
  if (id === undefined || interest === undefined) return runStart;
  if (interest === "notify") {
    relay.onPassed(id);
    return runStart;
  }
  const content = bytes.subarray(start, next);
  if (interest === "rewrite" && (place.size || next - place.at) > (relay.rewrite?.maxBytes ?? 0))
    return runStart;
  if (offset > runStart) pass(from, relay, bytes.subarray(runStart, offset));
  if (interest === "rewrite") {
    rebuild(from, relay, content);
    return next;
  }
  const body = decodeFrame(content, from.threshold, inspectLimit(from, relay));
  from.spend(place.size === 0 ? workOf.inspect : workOf.inspect + workOf.inflate(place.size));
  const isDropped = relay.onPacket(id, body);
  return isDropped ? next : offset;
}

const everything = new Uint8Array(256).fill(1);
const watchedOf = new WeakMap<ReadonlyMap<number, Interest>, Uint8Array>();

/** Which first bytes of an id call for more: those in the filter, and those of every longer one. */
function watchedBy(from: Connection, { filter, to }: Relay): Uint8Array {
  if (areUnlike(from, to)) return everything;
  const known = watchedOf.get(filter);
  if (known) return known;
  const watched = Uint8Array.from({ length: 256 }, (_, first) => (first > 0x7f || filter.has(first) ? 1 : 0));
  watchedOf.set(filter, watched);
  return watched;
}

type Place = { readonly size: number; readonly at: number };

/** What a frame says it inflates to, and where its bytes begin; 0 is not compressed. */
function placeOf(bytes: Buffer, start: number, next: number): Place {
  if (bytes[start] === 0) return { size: 0, at: start + 1 };
  const reader = new Reader(bytes, start);
  const size = reader.varint();
  if (reader.offset > next) throw new MinecraftFault("frame", "a frame ends within its length");
  // Written longer than it has to be it would be a zero that only some readers take for one.
  if (size === 0) throw new MinecraftFault("frame", "a packet says it inflates to nothing");
  return { size, at: reader.offset };
}

/** The packet's id, or undefined for a compressed frame too large to be peeked into. The common case costs one byte's read. */
function idOf(
  from: Connection,
  relay: Relay,
  { bytes, size, at, next }: Place & { bytes: Buffer; next: number },
): number | undefined {
  if (size === 0) return idAt(bytes, at);
  const isLarge = size > relay.peekBytes;
  if (isLarge && !relay.peeksLarger?.(size)) return undefined;
  // Large packets begin with long tables.
  from.spend(isLarge ? workOf.inspect : workOf.peek);
  return new Reader(Buffer.from(deflateHead(bytes, { start: at, end: next }, 5))).varint();
}

function idAt(bytes: Buffer, offset: number): number {
  const first = bytes[offset] ?? 0;
  if (first < 0x80) return first;
  const second = bytes[offset + 1] ?? 0;
  // An id may be written longer than it has to be: it must not slip past the filter that way.
  return second < 0x80 ? (first & 0x7f) | (second << 7) : new Reader(bytes, offset).varint();
}
