import { type ControlFrame, controlChannel, encodeControl } from "@svc/proto/control";
import type { SystemServers } from "./place.ts";
import type { Session } from "./session.ts";

/**
 * A frame for the lobby. A player who has moved on meanwhile is on a server that must not read it: frames tell which
 * servers there are and what the player may do there.
 */
export function sendToLobby(
  { config }: { readonly config: SystemServers },
  session: Session,
  frame: ControlFrame,
): void {
  if (session.place.kind !== "lobby" || session.bridge.server !== config.lobbyServer) return;
  session.bridge.sendToServer({ channel: controlChannel, data: encodeControl(frame) });
}
