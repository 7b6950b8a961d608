// All SQL of the links between players and accounts.

import { Fault, type links, type Role } from "@svc/proto";
import type { Selectable } from "kysely";
import type { z } from "zod";
import type { IdentityDb, IdentityTrx, LinksTable } from "../database.ts";

type AccountOfPlayer = { user_id: string; role: "owner" | "admin" | "user" };

/** The only mapping from a row to its view. */
export function toLinkedAccount(row: Selectable<LinksTable>): z.output<typeof links.LinkedAccount> {
  const { mc_uuid, auth_source, verified_at } = row;
  return { mc_uuid, auth_source, verified_at: verified_at.toISOString() };
}

/** The account of a player, when it is neither disabled nor deleted. */
export async function findLinkedAccount(
  db: IdentityDb,
  mcUuid: string,
): Promise<AccountOfPlayer | undefined> {
  const row = await db
    .selectFrom("account_links as l")
    .innerJoin("users as u", "u.id", "l.user_id")
    .where("l.mc_uuid", "=", mcUuid)
    .where("u.deleted_at", "is", null)
    .where("u.disabled", "=", false)
    .select(["u.id", "u.role"])
    .executeTakeFirst();
  return row && { user_id: row.id, role: row.role };
}

export async function listLinkedPlayers(db: IdentityDb, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("account_links")
    .select("mc_uuid")
    .where("user_id", "=", userId)
    .orderBy("verified_at")
    .orderBy("mc_uuid")
    .execute();
  return rows.map((row) => row.mc_uuid);
}

/** The links of an account, in the order in which they were made. */
export function listLinksOf(db: IdentityDb, userId: string): Promise<Selectable<LinksTable>[]> {
  return db
    .selectFrom("account_links")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("verified_at")
    .orderBy("mc_uuid")
    .execute();
}

/** True when there was such a link. */
export async function deleteLink(db: IdentityDb, link: { userId: string; mcUuid: string }): Promise<boolean> {
  const gone = await db
    .deleteFrom("account_links")
    .where("user_id", "=", link.userId)
    .where("mc_uuid", "=", link.mcUuid)
    .executeTakeFirst();
  return gone.numDeletedRows > 0n;
}

/** The players of accounts, by account and in the order in which they were linked. */
export async function findPlayersOf(
  db: IdentityDb,
  userIds: readonly string[],
): Promise<Record<string, string[]>> {
  if (userIds.length === 0) return {};
  const rows = await db
    .selectFrom("account_links")
    .select(["user_id", "mc_uuid"])
    .where((where) => where("user_id", "=", where.fn.any(where.val([...userIds]))))
    .orderBy("verified_at")
    .orderBy("mc_uuid")
    .execute();
  const grouped = Object.entries(Object.groupBy(rows, ({ user_id }) => user_id));
  return Object.fromEntries(grouped.map(([id, links]) => [id, (links ?? []).map(({ mc_uuid }) => mc_uuid)]));
}

/** Links a player to an account; a repeat changes nothing. Throws `already_linked` when another account has it. */
export async function linkPlayer(
  trx: IdentityTrx,
  link: { userId: string; mcUuid: string; authSource: "mojang" | "thirdparty"; now: Date },
): Promise<void> {
  await trx
    .insertInto("account_links")
    .values({
      user_id: link.userId,
      mc_uuid: link.mcUuid,
      auth_source: link.authSource,
      verified_at: link.now,
    })
    .onConflict((conflict) => conflict.column("mc_uuid").doNothing())
    .execute();
  const { user_id } = await trx
    .selectFrom("account_links")
    .select("user_id")
    .where("mc_uuid", "=", link.mcUuid)
    .executeTakeFirstOrThrow();
  if (user_id !== link.userId) throw new Fault("already_linked");
}

/** The link of a player, whatever the state of the account. */
export function findLink(
  db: IdentityDb,
  mcUuid: string,
): Promise<{ user_id: string; auth_source: links.AuthSource } | undefined> {
  return db
    .selectFrom("account_links")
    .select(["user_id", "auth_source"])
    .where("mc_uuid", "=", mcUuid)
    .executeTakeFirst();
}

export async function hasLink(db: IdentityDb, mcUuid: string): Promise<boolean> {
  return (await findLink(db, mcUuid)) !== undefined;
}

export async function findLinkedOf(db: IdentityDb, mcUuids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom("account_links")
    .where((where) => where("mc_uuid", "=", where.fn.any(where.val([...mcUuids]))))
    .select("mc_uuid")
    .execute();
  return rows.map(({ mc_uuid }) => mc_uuid);
}

type LockedAccount = {
  id: string;
  username: string;
  role: Role;
  disabled: boolean;
  deletedAt: Date | null;
  authSource: links.AuthSource;
};

/** Locks the account of a player, retired or not, until the transaction ends. */
export async function lockLinkedAccount(
  trx: IdentityTrx,
  mcUuid: string,
): Promise<LockedAccount | undefined> {
  const row = await trx
    .selectFrom("account_links as l")
    .innerJoin("users as u", "u.id", "l.user_id")
    .where("l.mc_uuid", "=", mcUuid)
    .select(["u.id", "u.username", "u.role", "u.disabled", "u.deleted_at", "l.auth_source"])
    .forUpdate(["u"])
    .executeTakeFirst();
  if (!row) return undefined;
  const { deleted_at: deletedAt, auth_source: authSource, ...account } = row;
  return { ...account, deletedAt, authSource };
}

/** User names of the live accounts of players, by UUID; the others are left out. */
export async function findPlayerNames(
  db: IdentityDb,
  mcUuids: readonly string[],
): Promise<Record<string, string>> {
  if (mcUuids.length === 0) return {};
  const rows = await db
    .selectFrom("account_links as l")
    .innerJoin("users as u", "u.id", "l.user_id")
    .where((where) => where("l.mc_uuid", "=", where.fn.any(where.val([...mcUuids]))))
    .where("u.deleted_at", "is", null)
    .where("u.disabled", "=", false)
    .select(["l.mc_uuid", "u.username"])
    .execute();
  return Object.fromEntries(rows.map((row) => [row.mc_uuid, row.username]));
}
