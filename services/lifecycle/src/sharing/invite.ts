// Inviting, and taking invitations back (docs/reference/shared-access.md#invitations).

import { auditActor, type Context, type Handler } from "@svc/mesh";
import { members as contracts, type Grant, type InputOf, isFault, notices } from "@svc/proto";
import { accountOf, liveMembers, newId, type SharingDeps, withActor } from "./deps.ts";
import { comparedAddress, grantOf, hashOfSecret, mintSecret, toGrant, toView } from "./invitation.ts";
import { mayGive, mayTakeBack } from "./policy.ts";
import type { InvitationRow, LockedSharing, NewInvitation } from "./store.ts";

type Contract = typeof contracts.invite;
type Target = Pick<NewInvitation, "kind" | "secret_hash" | "email" | "mc_uuid" | "player_name">;

const dayMs = 86_400_000;
const nobody = { secret_hash: null, email: null, mc_uuid: null, player_name: null };

export const invite =
  (deps: SharingDeps): Handler<Contract> =>
  async (context, { name, ...asked }) => {
    const grant = toGrant(asked);
    checkAsked(context, asked);
    const secret = asked.email === undefined && asked.player === undefined ? mintSecret() : undefined;
    const { user_id, username } = accountOf(context);
    await deps.attempts.take(user_id);
    const wanted = { caller: context, name, to: contracts.invite };
    const { row, actor } = await withActor(deps, wanted, async (locked, by) => {
      if (!mayGive(by, grant)) throw context.fault("access_beyond_own");
      // Only who may invite learns who plays here.
      const target = await targetOf(deps, context, { asked, secret });
      await checkRoom(deps, context, locked);
      const made = await locked.addInvitation({
        ...target,
        id: newId("inv"),
        server_name: name,
        owner_id: locked.row.ownerId ?? "",
        offered: grant,
        invited_by: user_id,
        inviter_name: username,
        expires_at: new Date(Date.now() + asked.expires_in_days * dayMs),
      });
      await locked.audit({
        ...auditActor(context),
        action: "server.access.invite",
        server_name: name,
        payload: {
          invitation: made.id,
          kind: made.kind,
          ...grant,
          expires_at: made.expires_at.toISOString(),
        },
      });
      return { row: made, actor: by };
    });
    const [invitation] = toView(row, actor);
    if (!invitation) throw new Error(`the invitation ${row.id} cannot be read as it was written`);
    const { email } = asked;
    return {
      invitation,
      ...(secret !== undefined && { secret }),
      ...(email !== undefined && { mailed: await mail(deps, context, { row, email }) }),
    };
  };

type Asked = Omit<InputOf<Contract>, "name">;

function checkAsked(context: Context<Contract>, { email, player, ends_at }: Asked): void {
  if (email !== undefined && player !== undefined)
    throw context.fault("bad_request", { message: "Give an e-mail address or a player, not both." });
  if (ends_at !== undefined && Date.parse(ends_at) <= Date.now())
    throw context.fault("bad_request", { message: "ends_at has passed; choose a later time." });
}

async function targetOf(
  { sharing }: SharingDeps,
  context: Context<Contract>,
  { asked: { email, player }, secret }: { asked: Asked; secret: string | undefined },
): Promise<Target> {
  if (secret !== undefined) return { ...nobody, kind: "link", secret_hash: hashOfSecret(secret) ?? "" };
  if (player === undefined) return { ...nobody, kind: "mail", email: comparedAddress(email ?? "") };
  const [found, ...others] = await sharing.playersCalled(player);
  // Two accounts of different sources may have one name: then nobody can say who is meant.
  if (!found || others.length > 0) throw context.fault("player_unknown");
  return { ...nobody, kind: "player", mc_uuid: found.mc_uuid, player_name: found.name };
}

async function checkRoom({ settings }: SharingDeps, context: Context<Contract>, locked: LockedSharing) {
  if (liveMembers(locked.row).length >= settings.members_per_server) throw context.fault("member_limit");
  if ((await locked.openInvitations()) >= settings.invitations_per_server)
    throw context.fault("invitation_limit");
}

// After the commit: the invitation stands without its mail, and the answer says that none was sent.
async function mail(
  { mesh }: SharingDeps,
  context: Context<Contract>,
  { row, email }: { row: InvitationRow; email: string },
): Promise<boolean> {
  const { server_name: server, invited_by: user_id } = row;
  const about = { email, user_id, server, expires_at: row.expires_at.toISOString() };
  try {
    return (await mesh.call(notices.sendInvitation, about, context)).result === "delivered";
  } catch (error) {
    const { fault = "unknown" } = isFault(error) ? error : {};
    context.log.warn({ server, fault }, "the mail of an invitation was not sent");
    return false;
  }
}

export const revoke =
  (deps: SharingDeps): Handler<typeof contracts.revoke> =>
  (context, { name, id }) =>
    withActor(deps, { caller: context, name, to: contracts.revoke }, async (locked, actor) => {
      const row = await locked.findInvitation(id);
      if (!row || row.ended_at !== null) throw context.fault("invitation_not_found");
      const grant: Grant | undefined = grantOf(row);
      const isBeyond = actor.as === "member" && !(grant && mayTakeBack(actor, grant));
      if (isBeyond) throw context.fault("access_beyond_own");
      await locked.endInvitation(id, { outcome: "revoked" });
      const payload = { invitation: id, kind: row.kind, ...grant };
      await locked.audit({
        ...auditActor(context),
        action: "server.access.revoke",
        server_name: name,
        payload,
      });
      return null;
    });
