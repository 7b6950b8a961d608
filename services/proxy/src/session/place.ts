// Where a player is and may go. Wrong here means the wrong person in: what is not known to be right is refused.

import type { ProxyConfig } from "../config.ts";

export type Place = { kind: "none" | "gate" | "lobby" } | { kind: "server"; name: string };
export type Destination = Exclude<Place, { kind: "none" }>;

/**
 * Whether a connection may be made. A fresh connection goes to the gate; who is not released goes nowhere else. Commands
 * and frames of the gate never choose a server: only the release does, which asks for the link first.
 */
export function mayConnect(from: Place, to: Destination, isReleased: boolean): boolean {
  if (from.kind === "none" || to.kind === "gate") return to.kind === "gate";
  return isReleased;
}

/** The server's name; undefined on the way to the first one. */
export function serverAt(place: Place, config: SystemServers): string | undefined {
  if (place.kind === "server") return place.name;
  if (place.kind === "gate") return config.loginServer;
  return place.kind === "lobby" ? config.lobbyServer : undefined;
}

export type SystemServers = Pick<ProxyConfig, "loginServer" | "lobbyServer">;

/** Whether this is the gate or the lobby. */
export function isSystem({ config }: { readonly config: SystemServers }, server: string): boolean {
  return server === config.loginServer || server === config.lobbyServer;
}
