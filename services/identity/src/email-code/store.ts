// All SQL of mailed codes.

import type { Selectable } from "kysely";
import type { CodePurpose, CodesTable, IdentityDb, IdentityTrx } from "../database.ts";
import { mintId, sha256 } from "../secret.ts";
import type { FailureWindow } from "./policy.ts";

const anyPurpose = "any";

export async function findFailures(db: IdentityDb, userId: string): Promise<FailureWindow | undefined> {
  const row = await db
    .selectFrom("otp_failure_windows")
    .select(["window_start", "failures"])
    .where("user_id", "=", userId)
    .where("purpose", "=", anyPurpose)
    .executeTakeFirst();
  return row && { windowStart: row.window_start, failures: row.failures };
}

/** Call it with the account locked, so that parallel wrong codes are all counted. */
export async function saveFailures(trx: IdentityTrx, userId: string, window: FailureWindow): Promise<void> {
  const values = { window_start: window.windowStart, failures: window.failures };
  await trx
    .insertInto("otp_failure_windows")
    .values({ user_id: userId, purpose: anyPurpose, ...values })
    .onConflict((conflict) => conflict.columns(["user_id", "purpose"]).doUpdateSet(values))
    .execute();
}

export type Reservation = { keys: readonly string[]; freeAt: Date };

/** The cooldown keys of a code to this address for this account, sorted, so that two reservations never deadlock. */
export function reservationKeys(userId: string, email: string): string[] {
  return [`mail:${sha256(email.toLowerCase())}`, `user:${userId}`];
}

/** Takes all keys or none. Answers when the last of them is free when one is taken. */
export async function reserve(
  db: IdentityDb,
  wanted: Reservation & { now: Date },
): Promise<{ reserved: true } | { reserved: false; freeAt: Date }> {
  const { keys, freeAt, now } = wanted;
  return db.transaction().execute(async (trx) => {
    const taken = await trx
      .insertInto("otp_reservations")
      .values(keys.map((key) => ({ key, free_at: freeAt })))
      .onConflict((conflict) =>
        conflict.column("key").doUpdateSet({ free_at: freeAt }).where("otp_reservations.free_at", "<=", now),
      )
      .returning("otp_reservations.key")
      .execute();
    if (taken.length === keys.length) return { reserved: true as const };
    const mine = new Set(taken.map((row) => row.key));
    const others = keys.filter((key) => !mine.has(key));
    const rows = await trx
      .selectFrom("otp_reservations")
      .select("free_at")
      .where("key", "in", others)
      .execute();
    const last = Math.max(now.getTime(), ...rows.map((row) => row.free_at.getTime()));
    if (mine.size > 0)
      await trx
        .deleteFrom("otp_reservations")
        .where("key", "in", [...mine])
        .execute();
    return { reserved: false as const, freeAt: new Date(last) };
  });
}

/** Releases keys after a failure, unless another request has taken them since. */
export async function release(db: IdentityDb, { keys, freeAt }: Reservation): Promise<void> {
  await db
    .deleteFrom("otp_reservations")
    .where("key", "in", [...keys])
    .where("free_at", "=", freeAt)
    .execute();
}

type NewCode = {
  userId: string;
  email: string;
  code: string;
  purpose: CodePurpose;
  now: Date;
  expiresAt: Date;
};

/** Stores the hash of a code; it is the newest of its purpose from now on. Returns its id. */
export async function saveCode(db: IdentityDb, code: NewCode): Promise<string> {
  const id = mintId();
  await db
    .insertInto("email_otps")
    .values({
      id,
      user_id: code.userId,
      email: code.email,
      code_hash: sha256(code.code),
      purpose: code.purpose,
      expires_at: code.expiresAt,
      created_at: code.now,
    })
    .execute();
  return id;
}

/** Takes a code back that was never delivered; the one before it counts again. */
export async function dropCode(db: IdentityDb, id: string): Promise<void> {
  await db.deleteFrom("email_otps").where("id", "=", id).execute();
}

/** The newest unspent, unexpired codes, newest first. */
export function findLiveCodes(
  db: IdentityDb,
  about: { userId: string; purpose: CodePurpose; now: Date; limit: number },
): Promise<Selectable<CodesTable>[]> {
  return db
    .selectFrom("email_otps")
    .selectAll()
    .where("user_id", "=", about.userId)
    .where("purpose", "=", about.purpose)
    .where("consumed_at", "is", null)
    .where("expires_at", ">", about.now)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(about.limit)
    .execute();
}

/** Counts a wrong try against every code that it could have been. */
export async function countAttempts(trx: IdentityTrx, ids: readonly string[]): Promise<void> {
  await trx
    .updateTable("email_otps")
    .set((row) => ({ attempts: row("attempts", "+", 1) }))
    .where("id", "in", [...ids])
    .execute();
}

/** Spends all but the newest live codes of a purpose, so that an older one never becomes valid again. */
export async function keepNewest(
  db: IdentityDb,
  about: { userId: string; purpose: CodePurpose; now: Date; limit: number },
): Promise<void> {
  await db
    .updateTable("email_otps")
    .set({ consumed_at: about.now })
    .where("user_id", "=", about.userId)
    .where("purpose", "=", about.purpose)
    .where("consumed_at", "is", null)
    .where("id", "not in", (newest) =>
      newest
        .selectFrom("email_otps")
        .select("id")
        .where("user_id", "=", about.userId)
        .where("purpose", "=", about.purpose)
        .where("consumed_at", "is", null)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(about.limit),
    )
    .execute();
}

/** Spends every live code of an account, whatever it is for: its address is another one now. */
export async function spendAllCodes(trx: IdentityTrx, about: { userId: string; now: Date }): Promise<void> {
  await trx
    .updateTable("email_otps")
    .set({ consumed_at: about.now })
    .where("user_id", "=", about.userId)
    .where("consumed_at", "is", null)
    .execute();
}

/** Spends every live code of a purpose, all but one when `except` is given. */
export async function spendCodes(
  db: IdentityDb,
  about: { userId: string; purpose: CodePurpose; now: Date; except?: string },
): Promise<void> {
  let query = db
    .updateTable("email_otps")
    .set({ consumed_at: about.now })
    .where("user_id", "=", about.userId)
    .where("purpose", "=", about.purpose)
    .where("consumed_at", "is", null);
  if (about.except !== undefined) query = query.where("id", "<>", about.except);
  await query.execute();
}

/** Whether another account has verified the address. */
export async function isTaken(db: IdentityDb, about: { email: string; userId: string }): Promise<boolean> {
  const row = await db
    .selectFrom("users")
    .select("id")
    .where((where) => where(where.fn<string>("lower", ["email"]), "=", about.email.toLowerCase()))
    .where("email_verified", "=", true)
    .where("id", "<>", about.userId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores a verified address. Violates the index `users_verified_email` when another account has verified it. */
export async function saveVerifiedEmail(
  trx: IdentityTrx,
  about: { userId: string; email: string },
): Promise<void> {
  await trx
    .updateTable("users")
    .set({ email: about.email, email_verified: true })
    .where("id", "=", about.userId)
    .execute();
}

/** Stores an unverified address. */
export async function saveUnverifiedEmail(
  trx: IdentityTrx,
  about: { userId: string; email: string },
): Promise<void> {
  await trx
    .updateTable("users")
    .set({ email: about.email, email_verified: false })
    .where("id", "=", about.userId)
    .execute();
}
