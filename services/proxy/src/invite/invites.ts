// `/invite` (docs/reference/links.md#invite). Who accepts gets onto the allowlist by joining, hence may wake the server later.
// Vocabulary: card = the prompt an invited player sees; only the newest one of a player lives.

import { randomBytes } from "node:crypto";

type Card = { id: string; from: string; server: string; until: number };

export type Invites = {
  /** Milliseconds this sender has to wait; 0 = may invite. Asking charges nothing. */
  waitOf: (from: string) => number;
  /** The card was shown; it replaces an older one. */
  keep: (card: Card, to: string) => void;
  /** The sender's cooldown begins. */
  began: (from: string) => void;
  /** The invitation came to nothing, so the sender need not wait. */
  undo: (from: string) => void;
  make: (from: string, server: string) => Card;
  /** Takes the live card with this id from the player. */
  accept: (to: string, id: string) => Card | undefined;
  /** A player left; their card is no use any more. */
  forget: (player: string) => void;
};

export function createInvites({
  ttlMs,
  cooldownMs,
  now,
}: {
  ttlMs: number;
  cooldownMs: number;
  now: () => number;
}): Invites {
  const cards = new Map<string, Card>();
  const sentAt = new Map<string, number>();
  const waitOf = (from: string) =>
    Math.max(0, (sentAt.get(from) ?? Number.NEGATIVE_INFINITY) + cooldownMs - now());
  return {
    waitOf,
    make: (from, server) => ({ id: randomBytes(6).toString("hex"), from, server, until: now() + ttlMs }),
    keep: (card, to) => void cards.set(to, card),
    began: (from) => {
      for (const other of sentAt.keys()) if (waitOf(other) === 0) sentAt.delete(other);
      sentAt.set(from, now());
    },
    undo: (from) => void sentAt.delete(from),
    accept: (to, id) => {
      const card = cards.get(to);
      if (!card || card.id !== id) return undefined;
      cards.delete(to);
      return now() < card.until ? card : undefined;
    },
    // The cooldown stays: leaving and coming back must not end it.
    forget: (player) => void cards.delete(player),
  };
}
