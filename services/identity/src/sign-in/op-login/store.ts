// SQL of operator logins. A request is live until it expires or is consumed; the approval comes in between.

import type { Client } from "@svc/proto";
import type { Account } from "../../account/store.ts";
import type { IdentityDb, IdentityTrx } from "../../database.ts";
import { truncateAddress, truncateUserAgent } from "../../session/policy.ts";

type NewOpLogin = { id: string; account: Account; client: Client; now: Date; expiresAt: Date };

export async function saveOpLogin(db: IdentityDb, about: NewOpLogin): Promise<void> {
  const { id, account, client, now, expiresAt } = about;
  await db
    .insertInto("op_login_requests")
    .values({
      id,
      user_id: account.id,
      email: account.email ?? "",
      created_at: now,
      expires_at: expiresAt,
      client_ip: truncateAddress(client.address),
      user_agent: truncateUserAgent(client.userAgent),
    })
    .execute();
}

/** Unapproved requests of accounts that are still staff, oldest first. */
export function listPending(db: IdentityDb, about: { now: Date; limit: number }) {
  return pendingOf(db, about.now).orderBy("r.created_at").orderBy("r.id").limit(about.limit).execute();
}

export function findPending(db: IdentityDb, about: { id: string; now: Date }) {
  return pendingOf(db, about.now).where("r.id", "=", about.id).executeTakeFirst();
}

/** As `findPending`, locked until the transaction ends. */
export function lockPending(trx: IdentityTrx, about: { id: string; now: Date }) {
  return pendingOf(trx, about.now).where("r.id", "=", about.id).forUpdate("r").executeTakeFirst();
}

function pendingOf(db: IdentityDb, now: Date) {
  return db
    .selectFrom("op_login_requests as r")
    .innerJoin("users as u", "u.id", "r.user_id")
    .where("r.approved_at", "is", null)
    .where("r.consumed_at", "is", null)
    .where("r.expires_at", ">", now)
    .where("u.role", "<>", "user")
    .where("u.deleted_at", "is", null)
    .where("u.disabled", "=", false)
    .select(["r.id", "r.user_id", "u.username", "r.email", "r.client_ip", "r.user_agent"])
    .select(["r.created_at", "r.expires_at"]);
}

export async function saveApproval(
  trx: IdentityTrx,
  about: { id: string; approverId: string; now: Date },
): Promise<void> {
  await trx
    .updateTable("op_login_requests")
    .set({ approved_at: about.now, approved_by: about.approverId })
    .where("id", "=", about.id)
    .execute();
}

/** A live request that was approved. */
export function findApproved(db: IdentityDb, about: { id: string; now: Date }) {
  return approvedOf(db, about).executeTakeFirst();
}

/** As `findApproved`, locked until the transaction ends. */
export function lockApproved(trx: IdentityTrx, about: { id: string; now: Date }) {
  return approvedOf(trx, about).forUpdate().executeTakeFirst();
}

function approvedOf(db: IdentityDb, { id, now }: { id: string; now: Date }) {
  return db
    .selectFrom("op_login_requests")
    .select(["id", "user_id", "email", "attempts"])
    .where("id", "=", id)
    .where("approved_at", "is not", null)
    .where("consumed_at", "is", null)
    .where("expires_at", ">", now);
}

export async function countAttempt(trx: IdentityTrx, id: string): Promise<void> {
  await trx
    .updateTable("op_login_requests")
    .set((row) => ({ attempts: row("attempts", "+", 1) }))
    .where("id", "=", id)
    .execute();
}

export async function consume(trx: IdentityTrx, about: { id: string; now: Date }): Promise<void> {
  await trx
    .updateTable("op_login_requests")
    .set({ consumed_at: about.now })
    .where("id", "=", about.id)
    .execute();
}

/** The live staff account that a player is linked to. */
export function findApprover(
  db: IdentityDb,
  mcUuid: string,
): Promise<{ id: string; username: string } | undefined> {
  return db
    .selectFrom("account_links as l")
    .innerJoin("users as u", "u.id", "l.user_id")
    .where("l.mc_uuid", "=", mcUuid)
    .where("u.role", "<>", "user")
    .where("u.deleted_at", "is", null)
    .where("u.disabled", "=", false)
    .select(["u.id", "u.username"])
    .executeTakeFirst();
}
