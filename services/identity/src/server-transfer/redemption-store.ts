// All SQL of redemptions: who works on one, and how it ends. Whoever begins one holds the lock on its source account.

import type { IdentityDb, IdentityTrx } from "../database.ts";
import type { Migration } from "./policy.ts";
import { toMigration } from "./store.ts";

/** Whether one of these accounts gives or gets servers in another redemption. */
export async function isRedeeming(
  db: IdentityDb,
  about: { userIds: readonly string[]; except: string },
): Promise<boolean> {
  const row = await db
    .selectFrom("account_migrations")
    .select("id")
    .where("state", "=", "redeeming")
    .where("id", "<>", about.except)
    .where((where) =>
      where.or([
        where("source_user_id", "in", [...about.userIds]),
        where("target_user_id", "in", [...about.userIds]),
      ]),
    )
    .executeTakeFirst();
  return row !== undefined;
}

/** Takes the redemption of a code for one process. */
export async function leaseRedemption(
  trx: IdentityTrx,
  lease: { id: string; until: Date; now: Date },
): Promise<void> {
  await trx
    .updateTable("account_migrations")
    .set({ state: "redeeming", leased_until: lease.until, updated_at: lease.now })
    .where("id", "=", lease.id)
    .execute();
}

/** Takes one abandoned redemption; no other process takes it before `until`. */
export async function takeAbandoned(
  db: IdentityDb,
  lease: { until: Date; now: Date },
): Promise<Migration | undefined> {
  const row = await db
    .updateTable("account_migrations")
    .set({ leased_until: lease.until })
    .where("id", "=", (inner) =>
      inner
        .selectFrom("account_migrations")
        .select("id")
        .where("state", "=", "redeeming")
        .where("leased_until", "<=", lease.now)
        .orderBy("leased_until")
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .executeTakeFirst();
  return row && toMigration(row);
}

type Leased = { id: string; leasedUntil: Date | null; now: Date };

// Whoever lost the lease meanwhile decides nothing any more.
function leasedBy(db: IdentityDb, { id, leasedUntil }: Leased) {
  return db
    .updateTable("account_migrations")
    .where("id", "=", id)
    .where("state", "=", "redeeming")
    .where("leased_until", "=", leasedUntil);
}

/** Lets anybody carry a redemption on whose outcome is not known. */
export async function abandonRedemption(db: IdentityDb, leased: Leased): Promise<void> {
  await leasedBy(db, leased).set({ leased_until: leased.now }).execute();
}

/** Nothing was moved: the code is as it was. */
export async function giveCodeBack(db: IdentityDb, leased: Leased): Promise<void> {
  await leasedBy(db, leased)
    .set({ state: "code_issued", leased_until: null, updated_at: leased.now })
    .execute();
}

/** Ends a redemption; false when another process has ended it already. */
export async function endRedemption(
  trx: IdentityTrx,
  about: { id: string; servers: readonly string[]; isTold: boolean; now: Date },
): Promise<boolean> {
  const { now } = about;
  const ended = await trx
    .updateTable("account_migrations")
    .set({
      state: "redeemed",
      servers: JSON.stringify(about.servers),
      redeemed_at: now,
      told_at: about.isTold ? now : null,
      leased_until: null,
      updated_at: now,
    })
    .where("id", "=", about.id)
    .where("state", "=", "redeeming")
    .executeTakeFirst();
  return ended.numUpdatedRows > 0n;
}

/** Notes that the target was told; false when it has been already. */
export async function markAnswered(db: IdentityDb, about: { id: string; now: Date }): Promise<boolean> {
  const told = await db
    .updateTable("account_migrations")
    .set({ told_at: about.now })
    .where("id", "=", about.id)
    .where("state", "=", "redeemed")
    .where("told_at", "is", null)
    .executeTakeFirst();
  return told.numUpdatedRows > 0n;
}
