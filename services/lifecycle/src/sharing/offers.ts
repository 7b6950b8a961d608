// What the invited person does (docs/reference/shared-access.md#accept).

import { auditActor, type Context, type Handler } from "@svc/mesh";
import { type members as contracts, type Grant, type InputOf, isLive, type MemberRight } from "@svc/proto";
import type { StoredMember } from "../database/member.ts";
import type { ServerRow } from "../database/server-row.ts";
import {
  type Accounts,
  accountOf,
  describe,
  liveMembers,
  memberOf,
  newId,
  type SharingDeps,
} from "./deps.ts";
import { comparedAddress, grantOf, hashOfSecret, isFor, isOpen, toOffer } from "./invitation.ts";
import { type Actor, mayGive } from "./policy.ts";
import type { InvitationRow, LockedSharing } from "./store.ts";

type Contract = typeof contracts.look | typeof contracts.accept | typeof contracts.decline;
type Which = InputOf<Contract>;
/** An invitation that is for the caller, and who can be asked about. */
type Found = { row: InvitationRow; people: Accounts; me: string };

/** Throws `invitation_not_found` for what is unknown or for somebody else: no caller can tell which. */
async function findMine(deps: SharingDeps, context: Context<Contract>, which: Which): Promise<Found> {
  const { user_id: me } = accountOf(context);
  if ((which.id === undefined) === (which.secret === undefined))
    throw context.fault("bad_request", { message: "Give either the id of an invitation or its secret." });
  await deps.attempts.take(me);
  const row = await findRow(deps, which);
  const people = await describe(deps, context, row ? [me, row.invited_by, row.owner_id] : [me]);
  const account = people[me];
  if (!row || !account || !isFor(row, account, which.secret !== undefined))
    throw context.fault("invitation_not_found");
  return { row, people, me };
}

async function findRow({ sharing }: SharingDeps, { id, secret }: Which): Promise<InvitationRow | undefined> {
  if (id !== undefined) return sharing.byId(id);
  const hashed = hashOfSecret(secret ?? "");
  return hashed === undefined ? undefined : sharing.bySecret(hashed);
}

/**
 * What an invitation gives at this moment; undefined when it gives nothing: it is over, the server has another owner, the
 * inviter may not give it any more, or one of their accounts can no longer be used.
 */
function offeredNow(row: InvitationRow, server: ServerRow | undefined, people: Accounts): Grant | undefined {
  const now = Date.now();
  const grant = grantOf(row);
  if (!grant || !isOpen(row, now) || !isLive(grant, now)) return undefined;
  if (server?.ownerId === undefined || server.ownerId !== row.owner_id) return undefined;
  if (!people[row.invited_by] || !people[row.owner_id]) return undefined;
  const inviter = inviterOf(row, server, now);
  return inviter && mayGive(inviter, grant) ? grant : undefined;
}

function inviterOf({ invited_by }: InvitationRow, server: ServerRow, now: number): Actor | undefined {
  if (invited_by === server.ownerId) return { as: "owner" };
  const member = memberOf(server, invited_by);
  return member && isLive(member, now) ? { as: "member", member } : undefined;
}

export const look =
  (deps: SharingDeps): Handler<typeof contracts.look> =>
  async (context, which) => {
    const { row, people } = await findMine(deps, context, which);
    const grant = offeredNow(row, await deps.store.find(row.server_name), people);
    if (!grant) throw context.fault("invitation_over");
    return toOffer(row, grant);
  };

export const listOffers =
  (deps: SharingDeps): Handler<typeof contracts.listOffers> =>
  async (context) => {
    const { user_id: me } = accountOf(context);
    const account = (await describe(deps, context, [me]))[me];
    if (!account) return { invitations: [] };
    const { email, mc_uuids: mcUuids } = account;
    const rows = await deps.sharing.addressedTo({
      email: email === undefined ? undefined : comparedAddress(email),
      mcUuids,
    });
    const mine = rows.filter((row) => isFor(row, account, false));
    const ids = mine.flatMap(({ invited_by, owner_id }) => [invited_by, owner_id]);
    const [people, servers] = await Promise.all([
      describe(deps, context, ids),
      deps.store.rowsOf(mine.map(({ server_name }) => server_name)),
    ]);
    return {
      invitations: mine.flatMap((row) => {
        const server = servers.get(row.server_name);
        const grant = offeredNow(row, server, people);
        const isTheirs = server?.ownerId === me || liveMembers(server).some(({ user_id }) => user_id === me);
        return grant && !isTheirs ? [toOffer(row, grant)] : [];
      }),
    };
  };

export const accept =
  (deps: SharingDeps): Handler<typeof contracts.accept> =>
  async (context, which) => {
    const found = await findMine(deps, context, which);
    const { server_name: name } = found.row;
    const access = await deps.sharing.withServer(name, (locked) =>
      acceptLocked(deps, context, { locked, found }),
    );
    if (!access) throw context.fault("invitation_over");
    return access;
  };

async function acceptLocked(
  { settings }: SharingDeps,
  context: Context<typeof contracts.accept>,
  { locked, found: { row: seen, people, me } }: { locked: LockedSharing; found: Found },
): Promise<contracts.MyAccess | undefined> {
  const row = await locked.findInvitation(seen.id);
  if (!row) return undefined;
  const { server_name: server } = row;
  const mine = memberOf(locked.row, me);
  // A repeat: the same access, as long as it lasts.
  if (row.outcome === "accepted" && row.accepted_by === me && mine && mine.id === row.member_id)
    return isLive(mine, Date.now()) ? accessOf(server, mine) : undefined;
  const grant = offeredNow(row, locked.row, people);
  if (!grant) return undefined;
  const isMember = mine !== undefined && isLive(mine, Date.now());
  if (isMember || locked.row.ownerId === me) throw context.fault("already_member");
  // An access that has ended, before the sweep has seen it.
  if (mine) await locked.removeMember(mine);
  if (liveMembers(locked.row).length >= settings.members_per_server) throw context.fault("member_limit");
  const member: StoredMember = {
    ...{ id: newId("mem"), user_id: me, joined_at: new Date().toISOString() },
    ...{ invited_by: row.invited_by, inviter_name: row.inviter_name },
    ...grant,
  };
  await locked.addMember(member);
  await locked.endInvitation(row.id, { outcome: "accepted", accepted_by: me, member_id: member.id });
  const payload = {
    ...{ invitation: row.id, kind: row.kind, invited_by: row.inviter_name, user_id: me },
    ...grant,
  };
  await locked.audit({
    ...auditActor(context),
    action: "server.access.accept",
    server_name: server,
    payload,
  });
  await locked.announce();
  return accessOf(server, member);
}

function accessOf(server: string, { rights, limits, ends_at }: StoredMember): contracts.MyAccess {
  const held: MemberRight[] = rights;
  return {
    ...{ server, as: "member", rights: held },
    ...(limits && { limits }),
    ...(ends_at !== undefined && { ends_at }),
  };
}

export const decline =
  (deps: SharingDeps): Handler<typeof contracts.decline> =>
  async (context, which) => {
    const { row, me } = await findMine(deps, context, which);
    const done = await deps.sharing.withServer(row.server_name, async (locked) => {
      const now = await locked.findInvitation(row.id);
      if (!now || !(isOpen(now, Date.now()) || isDeclinedBy(now, me))) return false;
      if (now.ended_at !== null) return true;
      await locked.endInvitation(row.id, { outcome: "declined", accepted_by: me });
      const about = { server_name: row.server_name, payload: { invitation: row.id, kind: row.kind } };
      await locked.audit({ ...auditActor(context), action: "server.access.decline", ...about });
      return true;
    });
    if (!done) throw context.fault("invitation_over");
    return null;
  };

/** A repeat by the same account answers the same. */
function isDeclinedBy({ outcome, accepted_by }: InvitationRow, account: string): boolean {
  return outcome === "declined" && accepted_by === account;
}
