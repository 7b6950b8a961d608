import type { Connection } from "./connection.ts";

/**
 * `notify` learns of the id while the frame passes; `inspect` sees the whole packet and may drop it; `rewrite` may send
 * another one in its place. Other ids pass unseen.
 */
export type Interest = "notify" | "inspect" | "rewrite";

/**
 * Passes frames to `to` without decoding them, but for those that `to` would not take because it compresses otherwise.
 * Only packets whose id is in `filter` are seen. It is read anew for every frame, so a packet that changes the protocol
 * state can put another filter in its place.
 */
export type Relay = {
  readonly to: Connection;
  filter: ReadonlyMap<number, Interest>;
  /** For ids to `inspect`; true drops the frame. `body` is id and fields, inflated. */
  readonly onPacket: (id: number, body: Buffer) => boolean;
  /** For ids to `notify`. Called while the frame waits to be passed: it must not write to `to`. */
  readonly onPassed: (id: number) => void;
  /** For ids to `rewrite`: the packet to send instead. Those that inflate to more than `maxBytes` pass unseen. */
  readonly rewrite?: { readonly maxBytes: number; readonly body: (body: Buffer) => Buffer };
  /** The id is read of compressed frames that inflate to at most this many bytes; larger ones pass unseen. */
  readonly peekBytes: number;
  /** Whether the id of a larger one is read all the same. */
  readonly peeksLarger?: (bytes: number) => boolean;
  /** A packet to `inspect` that inflates to more than this closes its connection. */
  readonly inspectBytes?: number;
};

export function pass(from: Connection, relay: Relay, bytes: Buffer): void {
  if (!relay.to.write(bytes)) from.waitFor(relay.to);
}

export function inspectLimit(from: Connection, { inspectBytes }: Relay): number {
  return Math.min(from.inflatedLimit, inspectBytes ?? Number.POSITIVE_INFINITY);
}
