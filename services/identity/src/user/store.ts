// All SQL of the user administration.

import { type ExpressionBuilder, sql } from "kysely";
import type { Account } from "../account/store.ts";
import type { IdentityDb, IdentityTrx, Tables } from "../database.ts";
import { mintId } from "../secret.ts";
import { patternOf, uuidIn } from "./policy.ts";

type UserFilter = {
  query?: string | undefined;
  /** Players who are meant by the query. */
  players?: readonly string[];
  role?: "admin" | "user" | undefined;
  disabled?: boolean | undefined;
  sort?: "created_at" | "username" | undefined;
  order?: "asc" | "desc" | undefined;
  limit: number;
  offset: number;
};

/** A page of users that are not deleted, newest first unless sorted otherwise, and how many match in all. */
export async function searchUsers(
  db: IdentityDb,
  filter: UserFilter,
): Promise<{ users: Account[]; total: number }> {
  let matching = db.selectFrom("users").where("deleted_at", "is", null);
  const { query, players = [], sort = "created_at", order = sort === "username" ? "asc" : "desc" } = filter;
  if (query) matching = matching.where(isFoundBy(query, players));
  if (filter.role) matching = matching.where("role", "=", filter.role);
  if (filter.disabled !== undefined) matching = matching.where("disabled", "=", filter.disabled);
  const page = matching
    .selectAll()
    .orderBy(sort === "username" ? sql`lower(username)` : "created_at", order)
    .orderBy("id", order)
    .limit(filter.limit)
    .offset(filter.offset);
  const count = matching.select((select) => select.fn.countAll<number>().as("total"));
  const [users, { total }] = await Promise.all([page.execute(), count.executeTakeFirstOrThrow()]);
  return { users, total };
}

/** A part of the name or address, or a linked player. */
function isFoundBy(query: string, players: readonly string[]) {
  const uuid = uuidIn(query);
  const uuids = uuid === undefined ? players : [...players, uuid];
  return (where: ExpressionBuilder<Tables, "users">) => {
    const byText = where("search", "like", patternOf(query));
    if (uuids.length === 0) return byText;
    const linked = where.selectFrom("account_links").select("user_id").where("mc_uuid", "in", uuids);
    return where.or([byText, where("id", "in", linked)]);
  };
}

/** A user, deleted or not. */
export function findUser(db: IdentityDb, id: string): Promise<Account | undefined> {
  return db.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Locks a user that is not deleted until the transaction ends. */
export function lockUser(trx: IdentityTrx, id: string): Promise<Account | undefined> {
  return trx
    .selectFrom("users")
    .selectAll()
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
}

export function insertUser(
  db: IdentityDb,
  user: { username: string; role: "admin" | "user"; email: string | null; now: Date },
): Promise<Account> {
  const { now, ...columns } = user;
  return db
    .insertInto("users")
    .values({ id: mintId(), ...columns, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export type UserChange = Partial<
  Pick<Account, "username" | "email" | "email_verified" | "role" | "disabled">
>;

export function updateUser(trx: IdentityTrx, id: string, change: UserChange): Promise<Account> {
  return trx.updateTable("users").set(change).where("id", "=", id).returningAll().executeTakeFirstOrThrow();
}

/**
 * Soft-deletes a user and frees their address for another account. What lifecycle
 * has to do for it is stored in the same transaction.
 */
export async function markDeleted(trx: IdentityTrx, id: string, now: Date): Promise<void> {
  const gone = { deleted_at: now, disabled: true, email_verified: false };
  await trx.updateTable("users").set(gone).where("id", "=", id).execute();
  await trx
    .insertInto("user_deletions")
    .values({ user_id: id, requested_at: now, next_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Forgets that claims gave a role: from now on it is one by hand. */
export async function forgetGivenRole(trx: IdentityTrx, userId: string): Promise<void> {
  await trx
    .updateTable("external_identities")
    .set({ gave_admin: false })
    .where("user_id", "=", userId)
    .execute();
}

/** Leases one due deletion until `retryAt`. */
export async function takeDeletion(
  db: IdentityDb,
  about: { now: Date; retryAt: Date; only?: string },
): Promise<string | undefined> {
  const row = await db
    .updateTable("user_deletions")
    .set({ next_at: about.retryAt })
    .where("user_id", "=", (inner) => {
      let open = inner
        .selectFrom("user_deletions")
        .select("user_id")
        .where("released_at", "is", null)
        .where("next_at", "<=", about.now);
      if (about.only !== undefined) open = open.where("user_id", "=", about.only);
      return open.orderBy("next_at").limit(1).forUpdate().skipLocked();
    })
    .returning("user_id")
    .executeTakeFirst();
  return row?.user_id;
}

export async function endDeletion(db: IdentityDb, userId: string, now: Date): Promise<void> {
  await db.updateTable("user_deletions").set({ released_at: now }).where("user_id", "=", userId).execute();
}

/** Until when mailed codes are locked for a user; undefined when they are not. */
export async function findFailureWindow(
  db: IdentityDb,
  userId: string,
): Promise<{ windowStart: Date; failures: number } | undefined> {
  const row = await db
    .selectFrom("otp_failure_windows")
    .select(["window_start", "failures"])
    .where("user_id", "=", userId)
    .where("purpose", "=", sql.lit("any"))
    .executeTakeFirst();
  return row && { windowStart: row.window_start, failures: row.failures };
}
