import { goOrWake } from "../control/frames.ts";
import { type Context, type Session, sentence, tell } from "../player/session.ts";

/** Invites somebody on this proxy to the server the sender is on. */
export function invite(context: Context, session: Session, player: string) {
  const { invites, isRouting, sessions } = context;
  if (!isRouting) return tell(session, "routingOff");
  if (session.place.kind !== "server") return tell(session, "inviteNowhere");
  const wanted = player.toLowerCase();
  const guest = [...sessions.values()].find(({ name }) => name.toLowerCase() === wanted);
  // Who is still in the gate is nobody yet.
  if (!guest?.isReleased) return tell(session, "inviteNoPlayer", { player });
  if (guest === session) return tell(session, "inviteSelf");
  const waitMs = invites.waitOf(session.uuid);
  if (waitMs > 0) return tell(session, "tooFast", { seconds: Math.ceil(waitMs / 1_000) });
  const server = session.place.name;
  const card = invites.make(session.uuid, server);
  if (!guest.bridge.isInWorld) return tell(session, "inviteNoPlayer", { player });
  const text = sentence(guest, "inviteCard", { player: session.name, server, id: card.id });
  const isShown = guest.bridge.message({ text, color: "aqua", click: { run: `/invite accept ${card.id}` } });
  if (!isShown) return tell(session, "inviteNoPlayer", { player });
  invites.shown(card, guest.uuid);
  tell(session, "inviteSent", { player: guest.name, server });
}

export async function acceptInvite(context: Context, session: Session, id: string): Promise<void> {
  const card = context.invites.accept(session.uuid, id);
  const host = card && context.sessions.get(card.from);
  // The card leads to where the inviter is now, and to nobody who has left.
  if (!card || host?.place.kind !== "server") return tell(session, "inviteOver");
  await goOrWake(context, session, { server: host.place.name, origin: "join" });
}
