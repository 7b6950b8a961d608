// SQL of local passwords.

import type { Account } from "../account/store.ts";
import type { IdentityDb, IdentityTrx } from "../database.ts";
import { revokeSessions } from "../session/store.ts";

/** The live account of a user name. */
export function findByUsername(db: IdentityDb, username: string): Promise<Account | undefined> {
  return db
    .selectFrom("users")
    .selectAll()
    .where("username", "=", username)
    .where("deleted_at", "is", null)
    .where("disabled", "=", false)
    .executeTakeFirst();
}

/**
 * Sets or, with null, removes the local password and ends every session of the account. Only the CLI calls it
 * (docs/reference/sign-in.md#doors), with `hashPassword`. Returns how many sessions ended, or undefined without such an account.
 */
export async function savePassword(
  trx: IdentityTrx,
  about: { userId: string; passwordHash: string | null; now: Date },
): Promise<number | undefined> {
  const saved = await trx
    .updateTable("users")
    .set({ password_hash: about.passwordHash })
    .where("id", "=", about.userId)
    .where("deleted_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return saved && (await revokeSessions(trx, { userId: about.userId, now: about.now }));
}
