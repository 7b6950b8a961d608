// Members: seeing, changing and removing them (docs/reference/shared-access.md#operations).

import { auditActor, type Handler } from "@svc/mesh";
import { members as contracts, type Grant, isLive, MemberRight } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import type { StoredMember } from "../database/member.ts";
import { sharedOf } from "../database/server-row.ts";
import {
  type Accounts,
  accountOf,
  actorOf,
  describe,
  findShared,
  liveMembers,
  memberOf,
  type SharingDeps,
  withActor,
} from "./deps.ts";
import { toGrant, toView } from "./invitation.ts";
import { type Actor, mayChange, mayEnd } from "./policy.ts";

export const list =
  (deps: SharingDeps): Handler<typeof contracts.list> =>
  async (context, { name }) => {
    const row = await findShared(deps, name);
    const actor = actorOf(context, { name, to: contracts.list }, row);
    const live = liveMembers(row);
    // Best effort: who has access matters more than what they are called.
    const named = await describe(
      deps,
      context,
      live.map(({ user_id }) => user_id),
    ).catch(() => ({}));
    const invitations = await deps.sharing.invitations(name);
    const { members_per_server: members, invitations_per_server } = deps.settings;
    return {
      server: name,
      members: live.map((member) => viewOf(member, { actor, named, me: accountOf(context).user_id })),
      invitations: invitations.flatMap((one) => toView(one, actor)),
      limits: { members, invitations: invitations_per_server },
    };
  };

function viewOf(
  member: StoredMember,
  { actor, named, me }: { actor: Actor; named: Accounts; me: string },
): contracts.Member {
  const username = named[member.user_id]?.username;
  return {
    id: member.id,
    ...(username !== undefined && { username }),
    ...toGrant(member),
    joined_at: member.joined_at,
    invited_by: member.inviter_name,
    is_me: member.user_id === me,
    may_change: actor.as === "staff" || mayChange(actor, member, member),
  };
}

export const change =
  (deps: SharingDeps): Handler<typeof contracts.change> =>
  (context, { name, id, ...asked }) => {
    const grant = toGrant(asked);
    const { user_id: me } = accountOf(context);
    return withActor(deps, { caller: context, name, to: contracts.change }, async (locked, actor) => {
      const member = locked.row.members?.find((one) => one.id === id);
      if (!member) throw context.fault("member_not_found");
      if (!mayChange(actor, member, grant)) throw context.fault("access_beyond_own");
      const changed = await locked.replaceGrant(member, grant);
      const payload = { user_id: member.user_id, before: toGrant(member), ...grant };
      await locked.audit({
        ...auditActor(context),
        action: "server.access.change",
        server_name: name,
        payload,
      });
      await locked.announce();
      return viewOf(changed, { actor, named: {}, me });
    });
  };

export const remove =
  (deps: SharingDeps): Handler<typeof contracts.remove> =>
  (context, { name, id }) =>
    withActor(deps, { caller: context, name, to: contracts.remove }, async (locked, actor) => {
      const member = locked.row.members?.find((one) => one.id === id);
      if (!member) throw context.fault("member_not_found");
      if (!mayEnd(actor, member)) throw context.fault("access_beyond_own");
      await locked.removeMember(member);
      const payload = { user_id: member.user_id, ...toGrant(member) };
      await locked.audit({
        ...auditActor(context),
        action: "server.access.remove",
        server_name: name,
        payload,
      });
      await locked.announce();
      return null;
    });

export const leave =
  (deps: SharingDeps): Handler<typeof contracts.leave> =>
  async (context, { name }) => {
    await findShared(deps, name);
    const { user_id: me } = accountOf(context);
    // Asked of nobody: an access that opens nothing any more can be left too.
    await deps.sharing.withServer(name, async (locked) => {
      const member = memberOf(locked.row, me);
      if (!member) throw context.fault("member_not_found");
      await locked.removeMember(member);
      const payload = { user_id: me, ...toGrant(member) };
      await locked.audit({
        ...auditActor(context),
        action: "server.access.leave",
        server_name: name,
        payload,
      });
      await locked.announce();
    });
    return null;
  };

export const readMine =
  (deps: SharingDeps): Handler<typeof contracts.readMine> =>
  async (context, { name }) => {
    const row = await findShared(deps, name);
    const as = assertAccess(context, { name, row, to: contracts.readMine });
    const { user_id: me, token } = accountOf(context);
    const member = as === "member" ? memberOf(row, me) : undefined;
    const own: Grant = member ? toGrant(member) : { rights: [...MemberRight.options] };
    const held: readonly string[] | undefined = token?.rights;
    return { server: name, as, ...own, rights: own.rights.filter((right) => held?.includes(right) ?? true) };
  };

export const listSharedWith =
  ({ sharing }: SharingDeps): Handler<typeof contracts.listSharedWith> =>
  async (_context, { user_id }) => {
    const now = Date.now();
    const rows = await sharing.sharedWith(user_id);
    const servers = rows.flatMap(({ name, row }) => {
      const member = memberOf(row, user_id);
      if (row.ownerId === undefined || !member || !isLive(member, now)) return [];
      const { rights, ends_at } = member;
      return [{ server: name, owner_id: row.ownerId, rights, ...(ends_at !== undefined && { ends_at }) }];
    });
    return { servers };
  };

export const readSharing =
  ({ store }: SharingDeps): Handler<typeof contracts.readSharing> =>
  async (context, { name }) => {
    const row = await store.find(name);
    if (!row) throw context.fault("not_found");
    return {
      ...(row.ownerId !== undefined && { owner_id: row.ownerId }),
      members: sharedOf(name, row).members.map(({ user_id, rights, limits, ends_at }) => ({
        ...{ user_id, rights },
        ...(limits && { limits }),
        ...(ends_at !== undefined && { ends_at }),
      })),
    };
  };
