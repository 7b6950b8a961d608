// All SQL of redemptions: their leases and how they end. To begin one, lock its source account.

import type { IdentityDb, IdentityTrx } from "../database.ts";
import type { Transfer } from "./policy.ts";
import { toTransfer } from "./store.ts";

/** Whether one of these accounts gives or receives servers in another redemption. */
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

/** Leases the redemption of a code to one process. */
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

/** Leases one abandoned redemption until `until`. */
export async function leaseAbandoned(
  db: IdentityDb,
  lease: { until: Date; now: Date },
): Promise<Transfer | undefined> {
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
  return row && toTransfer(row);
}

type Leased = { id: string; leasedUntil: Date | null; now: Date };

// A process that has lost the lease changes nothing.
function leasedBy(db: IdentityDb, { id, leasedUntil }: Leased) {
  return db
    .updateTable("account_migrations")
    .where("id", "=", id)
    .where("state", "=", "redeeming")
    .where("leased_until", "=", leasedUntil);
}

/** Lets any replica resume a redemption whose outcome is unknown. */
export async function releaseLease(db: IdentityDb, leased: Leased): Promise<void> {
  await leasedBy(db, leased).set({ leased_until: leased.now }).execute();
}

/** Nothing was transferred: the code is valid again. */
export async function returnCode(db: IdentityDb, leased: Leased): Promise<void> {
  await leasedBy(db, leased)
    .set({ state: "code_issued", leased_until: null, updated_at: leased.now })
    .execute();
}

/** Ends a redemption; false when another process has ended it already. */
export async function endRedemption(
  trx: IdentityTrx,
  about: { id: string; servers: readonly string[]; isAnswered: boolean; now: Date },
): Promise<boolean> {
  const { now } = about;
  const ended = await trx
    .updateTable("account_migrations")
    .set({
      state: "redeemed",
      servers: JSON.stringify(about.servers),
      redeemed_at: now,
      told_at: about.isAnswered ? now : null,
      leased_until: null,
      updated_at: now,
    })
    .where("id", "=", about.id)
    .where("state", "=", "redeeming")
    .executeTakeFirst();
  return ended.numUpdatedRows > 0n;
}

/** Records that the target got its answer; false when it had it already. */
export async function markAnswered(db: IdentityDb, about: { id: string; now: Date }): Promise<boolean> {
  const marked = await db
    .updateTable("account_migrations")
    .set({ told_at: about.now })
    .where("id", "=", about.id)
    .where("state", "=", "redeemed")
    .where("told_at", "is", null)
    .executeTakeFirst();
  return marked.numUpdatedRows > 0n;
}
