// Who may send what on svc:control (docs/reference/svc-control.md#frames). The proxy consumes every frame; the player
// who acts is the one whose connection it came on.

import type { ReachingPacket } from "@svc/minecraft";
import type { ownership } from "@svc/proto";
import type { ControlFrame } from "@svc/proto/control";

/** Where a frame came from: a client, or the server behind a player's connection. */
export type FrameSource = "client" | "gate" | "lobby" | "server";
type FrameType = ControlFrame["type"];
/** Empty = unknown: a server that nobody gave a verdict on, or the service did not answer. */
type Verdict = ownership.MenuVerdict | "";

const allowed: Readonly<Record<FrameSource, ReadonlySet<FrameType>>> = {
  client: new Set(),
  gate: new Set<FrameType>(["LoginRelease"]),
  lobby: new Set<FrameType>(["ListRequest", "WakeRequest", "ClaimRequest", "StatusQuery"]),
  server: new Set(),
};

export function maySend(source: FrameSource, type: FrameType): boolean {
  return allowed[source].has(type);
}

/** The packets by which a server reaches beyond a player's stay on it: to other addresses, and into the client's cookies. */
export function mayReach(packet: ReachingPacket, key: string | undefined, serverTransfers: boolean): boolean {
  if (packet === "transfer") return serverTransfers;
  // Ours: it says where the player came from.
  return !key?.startsWith("svc:");
}

type Listed = { servers: string[]; access: Verdict[] };

/** The names of a ListUpdate: the caller's own servers first, then by name; as many as fit a message. */
export function listFor(
  names: readonly string[],
  verdicts: Readonly<Record<string, Verdict>>,
  limit: { names: number; bytes: number },
): Listed {
  const verdictOf = (name: string): Verdict => verdicts[name] ?? "";
  const rank = (name: string) => (verdictOf(name) === "owner" ? 0 : 1);
  const sorted = [...names].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).slice(0, limit.names);
  // Name, verdict, and two pairs of quotes and commas; the rest of the frame is a few dozen bytes.
  let bytes = 128;
  const fitting = sorted.findIndex((name) => {
    bytes += Buffer.byteLength(name) + verdictOf(name).length + 6;
    return bytes > limit.bytes;
  });
  const servers = fitting < 0 ? sorted : sorted.slice(0, fitting);
  return { servers, access: servers.map(verdictOf) };
}
