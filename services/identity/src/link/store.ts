// All SQL of the links between players and accounts.

import { Fault } from "@svc/proto";
import type { IdentityDb, IdentityTrx } from "../database.ts";

export type LinkedAccount = { user_id: string; role: "owner" | "admin" | "user" };

/** The account of a player, when it is neither disabled nor deleted. */
export async function findLinkedAccount(db: IdentityDb, mcUuid: string): Promise<LinkedAccount | undefined> {
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
