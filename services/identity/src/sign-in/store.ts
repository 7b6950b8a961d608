// SQL of the public endpoints. It must not differ between an address with and one without an account.

import { sql } from "kysely";
import type { CodePurpose, IdentityDb, IdentityTrx } from "../database.ts";
import { sha256 } from "../secret.ts";

export type SignInPurpose = Extract<CodePurpose, "sign_in" | "op_login">;
type Place = { key: string; freeAt: Date; expiresAt: Date; now: Date };

/** Each public endpoint has its own cooldown of an address: it neither blocks another nor reveals anything to it. */
export function reservationKey(purpose: SignInPurpose, email: string): string {
  return `${purpose}:${sha256(email.toLowerCase())}`;
}

/** Reserves an address for the cooldown. When it is reserved already, returns when the code mailed then expires. */
export async function reserveAddress(
  db: IdentityDb,
  place: Place,
): Promise<{ taken: true } | { expiresAt: Date }> {
  const { key, freeAt, expiresAt, now } = place;
  for (;;) {
    const taken = await db
      .insertInto("otp_reservations")
      .values({ key, free_at: freeAt, expires_at: expiresAt })
      .onConflict((conflict) =>
        conflict
          .column("key")
          .doUpdateSet({ free_at: freeAt, expires_at: expiresAt })
          .where("otp_reservations.free_at", "<=", now),
      )
      .returning("key")
      .executeTakeFirst();
    if (taken) return { taken: true };
    const row = await db
      .selectFrom("otp_reservations")
      .select("expires_at")
      .where("key", "=", key)
      .executeTakeFirst();
    // Released between the two statements: then it is free.
    if (row?.expires_at) return { expiresAt: row.expires_at };
  }
}

/** The writes of a rejected attempt that is not counted: as many as a counted one makes. */
export async function recordMiss(trx: IdentityTrx, about: { key: string; now: Date }): Promise<void> {
  const slot = Number.parseInt(sha256(about.key).slice(0, 2), 16);
  await trx
    .insertInto("sign_in_misses")
    .values({ slot, last_at: about.now })
    .onConflict((conflict) => conflict.column("slot").doNothing())
    .execute();
  await trx
    .updateTable("sign_in_misses")
    .set((row) => ({ tries: row("tries", "+", 1), last_at: about.now }))
    .where("slot", "=", slot)
    .execute();
}

/** Whether password sign-in is enabled. Missing or anything but `true` is off (docs/reference/sign-in.md#doors). */
export async function isPasswordDoorOpen(db: IdentityDb): Promise<boolean> {
  const row = await db
    .selectFrom("platform_settings")
    .select(sql<boolean>`value = 'true'::jsonb`.as("is_on"))
    .where("key", "=", "local_auth_enabled")
    .executeTakeFirst();
  return row?.is_on ?? false;
}
