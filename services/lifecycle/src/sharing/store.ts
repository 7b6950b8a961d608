// SQL on members and invitations (docs/reference/shared-access.md#invitations). A change locks the row of the server, which
// has the members, and then the invitation.

import { members as contracts, type Grant } from "@svc/proto";
import { outboxRow, type Trx } from "@svc/store";
import { type Selectable, sql } from "kysely";
import { type Audit, insertAudit } from "../database/audit.ts";
import type { StoredMember } from "../database/member.ts";
import type { AccessInvitationsTable, LifecycleStore, Tables } from "../database/schema.ts";
import { rowColumns, rowOf, type ServerRow } from "../database/server-row.ts";
import { sharedRows } from "../database/shared-rows.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import { endInvitationsBy, switchOffTasks, writeMembers } from "./end-access.ts";

export type InvitationRow = Selectable<AccessInvitationsTable>;
export type NewInvitation = Omit<
  InvitationRow,
  "created_at" | "ended_at" | "outcome" | "accepted_by" | "member_id" | "offered"
> & { offered: Grant };

/** Under the locks of one server. */
export type LockedSharing = {
  row: ServerRow;
  /** Of this server, locked; whether it is open or not. */
  findInvitation: (id: string) => Promise<InvitationRow | undefined>;
  openInvitations: () => Promise<number>;
  addInvitation: (invitation: NewInvitation) => Promise<InvitationRow>;
  endInvitation: (
    id: string,
    ending: Pick<InvitationRow, "outcome"> & Partial<Pick<InvitationRow, "accepted_by" | "member_id">>,
  ) => Promise<void>;
  addMember: (member: StoredMember) => Promise<void>;
  replaceGrant: (member: StoredMember, grant: Grant) => Promise<StoredMember>;
  /** Also switches off the tasks it saved, and takes its invitations back. */
  removeMember: (member: StoredMember) => Promise<void>;
  audit: (audit: Audit) => Promise<void>;
  /** Everybody who keeps something open looks again who may have it. */
  announce: () => Promise<void>;
};

type Addressee = { email: string | undefined; mcUuids: readonly string[] };

export type SharingStore = {
  /** Undefined when there is no such server. */
  withServer: <R>(name: string, work: (locked: LockedSharing) => Promise<R>) => Promise<R | undefined>;
  invitations: (name: string) => Promise<InvitationRow[]>;
  bySecret: (hash: string) => Promise<InvitationRow | undefined>;
  byId: (id: string) => Promise<InvitationRow | undefined>;
  /** Open invitations to an address or players, newest first. */
  addressedTo: (who: Addressee) => Promise<InvitationRow[]>;
  sharedWith: (accountId: string) => Promise<{ name: string; row: ServerRow }[]>;
  /** UUIDs that joined under a name, in any case. */
  playersCalled: (name: string) => Promise<{ mc_uuid: string; name: string }[]>;
};

const mostListed = 100;

export function createSharingStore(store: LifecycleStore): SharingStore {
  const { db } = store;
  const all = () => db.selectFrom("access_invitations").selectAll();
  const open = () => all().where("ended_at", "is", null).where("expires_at", ">", sql<Date>`now()`);
  return {
    withServer: (name, work) =>
      withDatabaseFaults(() =>
        db.transaction().execute(async (trx) => {
          const query = trx.selectFrom("servers").select(rowColumns).where("name", "=", name);
          const locked = await query.where("deleted_at", "is", null).forUpdate().executeTakeFirst();
          return locked && (await work(lockedSharing(trx, name, locked)));
        }),
      )(),
    invitations: withDatabaseFaults((name) =>
      open().where("server_name", "=", name).orderBy("created_at", "desc").orderBy("id").execute(),
    ),
    bySecret: withDatabaseFaults((hash) => all().where("secret_hash", "=", hash).executeTakeFirst()),
    byId: withDatabaseFaults((id) => all().where("id", "=", id).executeTakeFirst()),
    addressedTo: withDatabaseFaults(({ email, mcUuids }) =>
      open()
        .where((where) =>
          where.or([
            where("email", "=", email ?? null),
            where("mc_uuid", "=", sql<string>`any(${[...mcUuids]}::uuid[])`),
          ]),
        )
        .orderBy("created_at", "desc")
        .limit(mostListed)
        .execute(),
    ),
    sharedWith: withDatabaseFaults((accountId) => sharedRows(db, accountId)),
    playersCalled: withDatabaseFaults((name) =>
      db
        .selectFrom("player_names")
        .select(["mc_uuid", "name"])
        .where(sql<boolean>`lower(name) = ${name.toLowerCase()}`)
        .limit(2)
        .execute(),
    ),
  };
}

type Locked = Parameters<typeof rowOf>[0];

function lockedSharing(trx: Trx<Tables>, name: string, locked: Locked): LockedSharing {
  // As it is stored: what only a newer build can read stays as it is.
  let stored: readonly { id?: unknown }[] = Array.isArray(locked.members) ? locked.members : [];
  const write = async (members: readonly { id?: unknown }[]) => {
    stored = members;
    await writeMembers(trx, name, members);
  };
  return {
    row: rowOf(locked),
    findInvitation: (id) =>
      trx
        .selectFrom("access_invitations")
        .selectAll()
        .where("id", "=", id)
        .where("server_name", "=", name)
        .forUpdate()
        .executeTakeFirst(),
    openInvitations: async () => {
      const { count } = await trx
        .selectFrom("access_invitations")
        .select((select) => select.fn.countAll<number>().as("count"))
        .where("server_name", "=", name)
        .where("ended_at", "is", null)
        .where("expires_at", ">", sql<Date>`now()`)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    addInvitation: (invitation) =>
      trx
        .insertInto("access_invitations")
        .values({ ...invitation, offered: JSON.stringify(invitation.offered) })
        .returningAll()
        .executeTakeFirstOrThrow(),
    endInvitation: async (id, ending) => {
      await trx
        .updateTable("access_invitations")
        .set({ ...ending, ended_at: sql<Date>`now()` })
        .where("id", "=", id)
        .where("ended_at", "is", null)
        .execute();
    },
    addMember: (member) => write([...stored, member]),
    replaceGrant: async (member, grant) => {
      const { id, user_id, joined_at, invited_by, inviter_name } = member;
      const changed: StoredMember = { id, user_id, joined_at, invited_by, inviter_name, ...grant };
      await write(stored.map((one) => (one.id === id ? changed : one)));
      if (!mayHaveTasks(grant)) await switchOffTasks(trx, { server: name, userId: user_id });
      return changed;
    },
    removeMember: async ({ id, user_id: userId }) => {
      await write(stored.filter((one) => one.id !== id));
      await switchOffTasks(trx, { server: name, userId });
      await endInvitationsBy(trx, { server: name, userId });
    },
    audit: (audit) => insertAudit(trx, audit),
    announce: async () => {
      const event = outboxRow(contracts.accessChanged, { name, at: new Date().toISOString() });
      await trx.insertInto("outbox").values(event).execute();
    },
  };
}

/** A task runs with nobody's rights, so it stays only while its saver could save it again. Commands are not compared. */
function mayHaveTasks({ rights, limits }: Grant): boolean {
  const isLimited = limits?.allow_commands !== undefined || (limits?.deny_commands?.length ?? 0) > 0;
  return (
    !isLimited &&
    (["schedules", "command", "power", "backups.make"] as const).every((one) => rights.includes(one))
  );
}
