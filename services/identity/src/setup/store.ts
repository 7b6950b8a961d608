// All SQL of the first owner and the setup links.

import { sql } from "kysely";
import type { Account } from "../account/store.ts";
import type { IdentityDb, IdentityTrx } from "../database.ts";
import { mintId, mintToken, sha256 } from "../secret.ts";

/** Serializes replicas that start together, so that one of them creates the owner and the link. */
export async function takeSetupTurn(trx: IdentityTrx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('identity_setup'))`.execute(trx);
}

/** The first owner that may sign in. */
export function findOwner(trx: IdentityTrx): Promise<Account | undefined> {
  return trx
    .selectFrom("users")
    .selectAll()
    .where("role", "=", "owner")
    .where("deleted_at", "is", null)
    .where("disabled", "=", false)
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
}

/** A user name is taken for good, so an `owner` of old makes the new one `owner-2`, `owner-3`, … */
export async function createOwner(trx: IdentityTrx, now: Date): Promise<Account> {
  for (let number = 1; ; number++) {
    const username = number === 1 ? "owner" : `owner-${number}`;
    const created = await trx
      .insertInto("users")
      .values({ id: mintId(), username, role: "owner", created_at: now, updated_at: now })
      .onConflict((conflict) => conflict.column("username").doNothing())
      .returningAll()
      .executeTakeFirst();
    if (created) return created;
  }
}

export async function countLiveTokens(
  trx: IdentityTrx,
  about: { userId: string; now: Date },
): Promise<number> {
  const row = await trx
    .selectFrom("setup_tokens")
    .select((select) => select.fn.countAll<number>().as("live"))
    .where("user_id", "=", about.userId)
    .where("consumed_at", "is", null)
    .where("expires_at", ">", about.now)
    .executeTakeFirstOrThrow();
  return row.live;
}

/** Mints a setup token; its value is in the link and nowhere else. */
export async function createSetupToken(
  trx: IdentityTrx,
  about: { userId: string; now: Date; ttlMs: number },
): Promise<string> {
  const token = mintToken();
  await trx
    .insertInto("setup_tokens")
    .values({
      token_hash: sha256(token),
      user_id: about.userId,
      created_at: about.now,
      expires_at: new Date(about.now.getTime() + about.ttlMs),
    })
    .execute();
  return token;
}

/** The account of a setup token. Undefined when it is unknown, used or expired; check again with the account locked. */
export async function findTokenOwner(
  db: IdentityDb,
  about: { token: string; now: Date },
): Promise<string | undefined> {
  const row = await db
    .selectFrom("setup_tokens")
    .select("user_id")
    .where("token_hash", "=", sha256(about.token))
    .where("consumed_at", "is", null)
    .where("expires_at", ">", about.now)
    .executeTakeFirst();
  return row?.user_id;
}

/** Spends every link of an account. False when there was none to spend. */
export async function spendSetupTokens(
  trx: IdentityTrx,
  about: { userId: string; now: Date },
): Promise<boolean> {
  const spent = await trx
    .updateTable("setup_tokens")
    .set({ consumed_at: about.now })
    .where("user_id", "=", about.userId)
    .where("consumed_at", "is", null)
    .executeTakeFirst();
  return spent.numUpdatedRows > 0n;
}
