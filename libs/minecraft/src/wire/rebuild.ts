// Frames for a peer that compresses differently. Small ones are built anew at once, large ones in the pool of zlib: while
// it works its connection is not read from, and nobody else waits.

import { MinecraftFault } from "../fault.ts";
import { Reader } from "./bytes.ts";
import type { Connection } from "./connection.ts";
import { decodeFrame, decodeInPool, encodeFrame, encodeInPool, maxFrameBytes } from "./frame.ts";
import { inspectLimit, pass, type Relay } from "./relay.ts";
import { workOf } from "./work.ts";

/** So much is inflated or deflated at once: some tens of microseconds. */
const maxSyncBytes = 16_384;

/** Whether one has compression and the other has not: the layout of every frame differs. */
export function areUnlike(from: Connection, to: Connection): boolean {
  return from.threshold < 0 !== to.threshold < 0;
}

/**
 * Whether the receiver would not take the frame as it is. A peer with compression takes what was compressed at its
 * threshold or above, and what was not at all; `size` is what the frame inflates to, 0 when it is not compressed.
 */
export function mustRebuild(from: Connection, to: Connection, size: number): boolean {
  return areUnlike(from, to) || (size !== 0 && size < to.threshold);
}

/** Sends a frame's packet in the receiver's way, unless the relay drops it. */
export function rebuild(from: Connection, relay: Relay, content: Buffer): void {
  const isPacked = isPackedBy(from, content);
  const size = isPacked ? new Reader(content).varint() : content.length;
  const packs = relay.to.threshold >= 0 && size >= relay.to.threshold;
  from.spend((isPacked ? workOf.inflate(size) : 0) + (packs ? workOf.deflate(size) : 0));
  if (size > maxSyncBytes) {
    from.suspend(rebuildInPool(from, relay, content));
    return;
  }
  const body = rewritten(relay, decodeFrame(content, from.threshold, from.inflatedLimit));
  if (isTaken(from, relay, body)) return;
  if (!relay.to.sendBody(body)) from.waitFor(relay.to);
}

async function rebuildInPool(from: Connection, relay: Relay, content: Buffer): Promise<void> {
  const decoded = isPackedBy(from, content)
    ? await decodeInPool(content, from.inflatedLimit)
    : decodeFrame(content, from.threshold, from.inflatedLimit);
  const body = rewritten(relay, decoded);
  const { to } = relay;
  if (to.threshold < 0 && body.length > maxFrameBytes)
    throw new MinecraftFault("frame", `a packet of ${body.length} bytes fits no frame without compression`);
  const packs = to.threshold >= 0 && body.length >= to.threshold;
  const frame = packs ? await encodeInPool(body) : encodeFrame(body, to.threshold);
  // Only now: what `onPassed` sets off comes right behind the frame.
  if (!from.isReadBy(relay) || isTaken(from, relay, body) || !from.isReadBy(relay)) return;
  pass(from, relay, frame);
}

function rewritten({ filter, rewrite }: Relay, body: Buffer): Buffer {
  if (!rewrite || body.length > rewrite.maxBytes) return body;
  return filter.get(new Reader(body).varint()) === "rewrite" ? rewrite.body(body) : body;
}

function isTaken(from: Connection, relay: Relay, body: Buffer): boolean {
  const id = new Reader(body).varint();
  const interest = relay.filter.get(id);
  if (interest === "notify") relay.onPassed(id);
  if (interest !== "inspect") return false;
  if (body.length > inspectLimit(from, relay))
    throw new MinecraftFault("frame", `packet ${id} of ${body.length} bytes is too large`);
  from.spend(workOf.inspect);
  return relay.onPacket(id, body);
}

const isPackedBy = (from: Connection, content: Buffer): boolean => from.threshold >= 0 && content[0] !== 0;
