import type { players } from "@svc/proto";
import type { InternalApi } from "../api/internal-api.ts";
import { type GoDeps, goOrWake } from "../control/frames.ts";
import type { Invites } from "../invite/invites.ts";
import type { Online } from "../player/presence.ts";
import { isSystem } from "../session/place.ts";
import { type Session, sentence, tell } from "../session/session.ts";

export type InviteDeps = GoDeps & {
  readonly api: Pick<InternalApi, "invite">;
  readonly isRouting: boolean;
  readonly invites: Invites;
  readonly online: Online;
  readonly proxyId: string;
};

/** Invites somebody on any proxy to the server the sender is on. */
export async function invite(context: InviteDeps, session: Session, player: string): Promise<void> {
  const { invites, isRouting, sessions } = context;
  if (!isRouting) return tell(session, "routingOff");
  if (session.place.kind !== "server") return tell(session, "inviteNowhere");
  const wanted = player.toLowerCase();
  const guest = [...sessions.values()].find(({ name }) => name.toLowerCase() === wanted);
  const far = guest ? undefined : await findElsewhere(context, wanted);
  if (session.place.kind !== "server") return tell(session, "inviteNowhere");
  // Who is still in the gate is nobody yet.
  if (!guest?.isReleased && !far) return tell(session, "inviteNoPlayer", { player });
  if (guest === session) return tell(session, "inviteSelf");
  const waitMs = invites.waitOf(session.uuid);
  if (waitMs > 0) return tell(session, "tooFast", { seconds: Math.ceil(waitMs / 1_000) });
  const server = session.place.name;
  const isShown = guest
    ? inviteHere(context, session, { guest, server })
    : far !== undefined && (await inviteThere(context, session, { far, server }));
  if (!isShown) return tell(session, "inviteNoPlayer", { player });
  tell(session, "inviteSent", { player: guest?.name ?? far?.name ?? player, server });
}

function inviteHere(
  { invites }: InviteDeps,
  session: Session,
  { guest, server }: { guest: Session; server: string },
): boolean {
  const card = invites.make(session.uuid, server);
  if (!guest.bridge.isInWorld) return false;
  const text = sentence(guest, "inviteCard", { player: session.name, server, id: card.id });
  const isShown = guest.bridge.message({ text, color: "aqua", click: { run: `/invite accept ${card.id}` } });
  if (!isShown) return false;
  invites.keep(card, guest.uuid);
  invites.began(session.uuid);
  return true;
}

async function inviteThere(
  { invites, api, pool }: InviteDeps,
  session: Session,
  { far, server }: { far: players.OnlinePlayer; server: string },
): Promise<boolean> {
  const { id } = invites.make(session.uuid, server);
  // Before the call: two at once must not both get through.
  invites.began(session.uuid);
  const from = { from_uuid: session.uuid, from_name: session.name };
  const answer = await pool.run(() => api.invite(far.mc_uuid, { id, server, ...from }));
  if (!answer.ok) invites.undo(session.uuid);
  return answer.ok;
}

async function findElsewhere(
  { online, proxyId, config }: InviteDeps,
  wanted: string,
): Promise<players.OnlinePlayer | undefined> {
  const found = (await online.read())?.find(({ name }) => name.toLowerCase() === wanted);
  const isIn = found?.server !== undefined && found.server !== config.loginServer;
  return isIn && found.proxy !== proxyId ? found : undefined;
}

export async function acceptInvite(context: InviteDeps, session: Session, id: string): Promise<void> {
  const card = context.invites.accept(session.uuid, id);
  const server = card && (await serverOfHost(context, card.from));
  // The card leads to where the inviter is now, and to nobody who has left.
  if (server === undefined) return tell(session, "inviteOver");
  await goOrWake(context, session, { server, origin: "join" });
}

async function serverOfHost(context: InviteDeps, uuid: string): Promise<string | undefined> {
  const here = context.sessions.get(uuid);
  if (here) return here.place.kind === "server" ? here.place.name : undefined;
  const there = (await context.online.read())?.find(({ mc_uuid }) => mc_uuid === uuid)?.server;
  return there === undefined || isSystem(context, there) ? undefined : there;
}
