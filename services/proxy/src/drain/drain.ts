// The end of a proxy: nobody new stays, and everybody is sent to the other proxy, or away with a word.

import type { Listener } from "@svc/minecraft";
import { type ProxyConfig, parseAddress } from "../config.ts";
import type { Forwarding } from "../forwarding/secrets.ts";
import type { Queue } from "../queue/queue.ts";
import type { Registry } from "../registry/registry.ts";
import { disconnect, type Session, type Sessions, sentence } from "../session/session.ts";
import { openTicket, sealTicket, ticketCookie } from "./ticket.ts";

type DrainDeps = {
  readonly config: Pick<ProxyConfig, "transferTo" | "limits">;
  readonly sessions: Sessions;
  readonly queue: Pick<Queue, "find">;
  readonly registry: Pick<Registry, "find">;
  readonly forwarding: Pick<Forwarding, "ofTickets">;
  readonly life: { isDraining: boolean };
};

/** Waits for the players to leave; those still there after a while are disconnected with a text. */
export async function drain(context: DrainDeps, listener: Listener): Promise<void> {
  const { life, sessions, config } = context;
  life.isDraining = true;
  listener.stopAccepting();
  for (const session of sessions.values()) transferAway(context, session);
  await allGone(context, config.limits.drainMs);
  for (const session of sessions.values()) disconnect(session, sentence(session, "draining"), "draining");
  await allGone(context, config.limits.drainMs);
}

async function allGone({ sessions }: DrainDeps, withinMs: number): Promise<void> {
  const leaving = [...sessions.values()].map(({ bridge }) => bridge.player.connection.closed);
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, withinMs);
  });
  await Promise.race([Promise.all(leaving), over]);
  clearTimeout(timer);
}

/** Transfers the player to the other proxy, with a ticket to where they are or want to be; without one disconnects them. */
export function transferAway(context: DrainDeps, session: Session): void {
  const { config, queue, forwarding } = context;
  const { bridge, place, uuid } = session;
  const other = config.transferTo === undefined ? undefined : parseAddress(config.transferTo);
  if (!other) {
    disconnect(session, sentence(session, "draining"), "draining");
    return;
  }
  const server = place.kind === "server" ? place.name : (queue.find(uuid)?.server ?? session.target);
  const [secret] = forwarding.ofTickets();
  if (server !== undefined && secret !== undefined) {
    const ticket = { player: uuid, server, until: Date.now() + config.limits.ticketMs };
    bridge.storeCookie(ticketCookie, sealTicket(ticket, secret));
  }
  session.ended ??= "draining";
  bridge.transfer(other);
}

/** Where a player who was sent here by another proxy was; undefined for everybody else. */
export async function readTicket(context: DrainDeps, session: Session): Promise<string | undefined> {
  const { config, registry, forwarding } = context;
  const { bridge, uuid } = session;
  const secrets = forwarding.ofTickets();
  if (!bridge.player.transferred || secrets.length === 0) return undefined;
  const bytes = await bridge.askCookie(ticketCookie, config.limits.cookieMs);
  const name = bytes && openTicket(bytes, { player: uuid, secrets, now: Date.now() });
  return name === undefined ? undefined : registry.find(name)?.name;
}
