// All SQL that reads accounts.

import type { notices } from "@svc/proto";
import { type Selectable, sql } from "kysely";
import type { IdentityDb, IdentityTrx, UsersTable } from "../database.ts";
import { mintId } from "../secret.ts";
import { isSameAddress } from "./address.ts";

export type Account = Selectable<UsersTable>;

/** An account that is neither disabled nor deleted. */
export function findLiveAccount(db: IdentityDb, userId: string): Promise<Account | undefined> {
  return db
    .selectFrom("users")
    .selectAll()
    .where("id", "=", userId)
    .where("deleted_at", "is", null)
    .where("disabled", "=", false)
    .executeTakeFirst();
}

/** As `findLiveAccount`, locked until the transaction ends. */
export function lockLiveAccount(trx: IdentityTrx, userId: string): Promise<Account | undefined> {
  return trx
    .selectFrom("users")
    .selectAll()
    .where("id", "=", userId)
    .where("deleted_at", "is", null)
    .where("disabled", "=", false)
    .forUpdate()
    .executeTakeFirst();
}

/**
 * The live account with this verified address. The database and this process must agree that the addresses are equal:
 * cooldowns and budgets are stored under the form that this process computes, and an account that can be reached by
 * other spellings as well could be flooded.
 */
export async function findByVerifiedEmail(db: IdentityDb, email: string): Promise<Account | undefined> {
  const account = await db
    .selectFrom("users")
    .selectAll()
    .where(sql<boolean>`lower(email) = lower(${email})`)
    .where("email_verified", "=", true)
    .where("deleted_at", "is", null)
    .where("disabled", "=", false)
    .executeTakeFirst();
  return account && isSameAddress(account.email, email) ? account : undefined;
}

const mostOwners = 50;

/** Verified addresses of enabled owners with the language of their mails, by address. */
export async function listVerifiedOwners(db: IdentityDb): Promise<notices.StaffRecipient[]> {
  const rows = await db
    .selectFrom("users")
    .select(["email", "language"])
    .where("role", "=", "owner")
    .where("email_verified", "=", true)
    .where("email", "is not", null)
    .where("deleted_at", "is", null)
    .where("disabled", "=", false)
    .orderBy("email")
    .limit(mostOwners)
    .execute();
  return rows.flatMap(({ email, language }) => (email === null ? [] : [{ address: email, language }]));
}

/** The language of mails to an account. */
export async function findLanguage(db: IdentityDb, userId: string): Promise<Account["language"]> {
  const row = await db.selectFrom("users").select("language").where("id", "=", userId).executeTakeFirst();
  return row?.language ?? "en";
}

/** The e-mail address, or the user name without one, by account. Unknown ids are left out. */
export async function findNames(db: IdentityDb, userIds: readonly string[]): Promise<Record<string, string>> {
  if (userIds.length === 0) return {};
  const rows = await db
    .selectFrom("users")
    .select(["id", "username", "email"])
    .where((where) => where("id", "=", where.fn.any(where.val([...userIds]))))
    .execute();
  return Object.fromEntries(rows.map((row) => [row.id, row.email ?? row.username]));
}

/** Accounts that can be used, by id, with their address only if it is verified. */
export async function findUsable(
  db: IdentityDb,
  userIds: readonly string[],
): Promise<Record<string, { username: string; email?: string }>> {
  if (userIds.length === 0) return {};
  const rows = await db
    .selectFrom("users")
    .select(["id", "username", "email", "email_verified"])
    .where((where) => where("id", "=", where.fn.any(where.val([...userIds]))))
    .where("deleted_at", "is", null)
    .where("disabled", "=", false)
    .execute();
  return Object.fromEntries(
    rows.map(({ id, username, email, email_verified }) => [
      id,
      { username, ...(email_verified && email !== null && { email }) },
    ]),
  );
}

/** Creates the account of a player, with a suffix when the user name is taken. */
export async function createBoundAccount(trx: IdentityTrx, username: string): Promise<Account> {
  const id = mintId();
  const created = await trx
    .insertInto("users")
    .values({ id, username })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  return created ?? createBoundAccount(trx, `${username}-${id.slice(0, 8)}`);
}

/** Whether an account can be entered by an identity at one of these OpenID providers. */
export async function hasIdentityAt(
  db: IdentityDb,
  { userId, issuers }: { userId: string; issuers: readonly string[] },
): Promise<boolean> {
  if (issuers.length === 0) return false;
  const row = await db
    .selectFrom("external_identities")
    .select("id")
    .where("user_id", "=", userId)
    .where("issuer", "in", issuers)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function hasPasskey(db: IdentityDb, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom("webauthn_credentials")
    .select("id")
    .where("user_id", "=", userId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
