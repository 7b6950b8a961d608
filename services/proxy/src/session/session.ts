// One player on one connection, and what all parts of the proxy share.
// Vocabulary: session = a connection from login to its end, never carried over to the next one; place = where it is.

import type { Bridge, Text } from "@svc/minecraft";
import type { Logger } from "@svc/telemetry";
import type { InternalApi } from "../api/internal-api.ts";
import type { Pool } from "../api/pool.ts";
import type { StatusCache } from "../backend/status-cache.ts";
import type { Budget } from "../budget/bucket.ts";
import type { ProxyConfig } from "../config.ts";
import type { Forwarding } from "../forwarding/secrets.ts";
import type { LinkCache } from "../gate/link-cache.ts";
import type { Place } from "../gate/policy.ts";
import type { Invites } from "../invite/invites.ts";
import type { Queue } from "../queue/queue.ts";
import type { Registry } from "../registry/registry.ts";
import type { Activity } from "../report/activity.ts";
import { languageOf, type SentenceKey, say } from "../text/text.ts";
import type { Online } from "../player/presence.ts";

export type Session = {
  /** Tells this connection from every other one of the player, at any proxy. */
  readonly id: string;
  readonly uuid: string;
  readonly name: string;
  readonly bridge: Bridge;
  place: Place;
  /** The server whose subdomain was typed; forgotten once it refused the player or is gone. */
  target: string | undefined;
  /** The subdomain that was typed and that the list lacked at the login. */
  unknownSubdomain: string | undefined;
  /** The service said on this connection that the player is linked (or its memory did). */
  isReleased: boolean;
  isReleasing: boolean;
  deniedAt: number;
  /** What the server that was lost said, until the player is somewhere else. */
  lost: string | undefined;
  /** Why we ended the connection. */
  ended: string | undefined;
};

export type Context = {
  readonly config: ProxyConfig;
  readonly log: Logger;
  readonly now: () => number;
  readonly api: InternalApi;
  readonly pool: Pool;
  /** What the servers themselves say in the server list. */
  readonly statuses: StatusCache;
  readonly registry: Registry;
  readonly forwarding: Forwarding;
  readonly queue: Queue;
  readonly invites: Invites;
  readonly activity: Activity;
  readonly actions: Budget;
  readonly frames: Budget;
  readonly completions: Budget;
  readonly links: LinkCache;
  /** By UUID. */
  readonly sessions: Map<string, Session>;
  /** This process, among all proxies. */
  readonly proxyId: string;
  readonly online: Online;
  /** Joins and leaves on their way to the service. */
  readonly reports: Set<Promise<void>>;
  readonly isRouting: boolean;
  readonly life: { isDraining: boolean };
  /** Asks for the list out of turn, when a player names what it lacks. */
  readonly refreshOnMiss: () => Promise<void>;
};

type Values = Parameters<typeof say>[2];

export function sentence(session: Session, key: SentenceKey, values?: Values): string {
  return say(key, languageOf(session.bridge.player.client.locale), values);
}

/** A line of chat; nothing while the player is in no world. */
export function tell(session: Session, key: SentenceKey, values?: Values): void {
  session.bridge.message(sentence(session, key, values));
}

/** Ends the connection with words for the player, and a reason for the log. */
export function disconnect(session: Session, words: Text, reason: string): void {
  session.ended ??= reason;
  session.bridge.kick(words);
}

export function isSystem({ config }: Context, server: string): boolean {
  return server === config.loginServer || server === config.lobbyServer;
}

/** A session that was replaced or has ended must not act any more. */
export function isCurrent({ sessions }: Context, session: Session): boolean {
  return sessions.get(session.uuid) === session;
}
