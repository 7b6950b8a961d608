// One player on one connection.
// Vocabulary: session = a connection from login to its end, never carried over to the next one; place = where it is.

import type { Bridge, Text } from "@svc/minecraft";
import { type Language, languageOfLocale } from "@svc/proto/language";
import { type SentenceKey, say } from "../text/text.ts";
import type { Place } from "./place.ts";

export type Session = {
  /** Identifies this connection among all of the player's, at any proxy. */
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

/** The sessions of this proxy, by UUID. */
export type Sessions = ReadonlyMap<string, Session>;

type Values = Parameters<typeof say>[2];

export function languageOf(session: Session): Language {
  return languageOfLocale(session.bridge.player.client.locale);
}

export function sentence(session: Session, key: SentenceKey, values?: Values): string {
  return say(key, languageOf(session), values);
}

/** A line of chat; nothing while the player is in no world. */
export function tell(session: Session, key: SentenceKey, values?: Values): void {
  session.bridge.message(sentence(session, key, values));
}

/** Closes the connection with a text for the player and a reason for the log. */
export function disconnect(session: Session, words: Text, reason: string): void {
  session.ended ??= reason;
  session.bridge.kick(words);
}

/** A session that was replaced or has ended must not act any more. */
export function isCurrent({ sessions }: { readonly sessions: Sessions }, session: Session): boolean {
  return sessions.get(session.uuid) === session;
}
