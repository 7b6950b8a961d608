import type { Connection } from "./connection.ts";

/** `count` learns of the id while the frame passes; `look` sees the whole packet and may drop it. Other ids pass unseen. */
export type Interest = "count" | "look";

/**
 * Passes frames to `to` without decoding them, but for those that `to` would not take because it compresses otherwise.
 * Only packets whose id is in `tap` are looked at. `tap` is read anew for every frame, so a packet that changes the protocol state can put another one in its place.
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
};

export function pass(from: Connection, relay: Relay, bytes: Buffer): void {
  if (!relay.to.write(bytes)) from.waitFor(relay.to);
}

export function lookLimit(from: Connection, { lookBytes }: Relay): number {
  return Math.min(from.inflatedLimit, lookBytes ?? Number.POSITIVE_INFINITY);
}
