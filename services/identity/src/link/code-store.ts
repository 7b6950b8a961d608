// All SQL of bind codes. Locks are taken in one order everywhere: code, player, account.

import type { links } from "@svc/proto";
import { type Selectable, sql } from "kysely";
import type { IdentityDb, IdentityTrx, LinkCodesTable } from "../database.ts";
import { hashBindCode } from "./code.ts";

type NewBindCode = {
  code: string;
  mcUuid: string;
  authSource: links.AuthSource;
  now: Date;
  expiresAt: Date;
  /** How many codes of this player work at once. */
  keep: number;
};

/** Stores a code by its hash; the player's oldest codes go when there are too many. */
export async function saveBindCode(trx: IdentityTrx, code: NewBindCode): Promise<void> {
  await lockPlayer(trx, code.mcUuid);
  await trx
    .insertInto("account_link_codes")
    .values({
      code_hash: hashBindCode(code.code),
      mc_uuid: code.mcUuid,
      auth_source: code.authSource,
      expires_at: code.expiresAt,
      created_at: code.now,
    })
    .execute();
  // A code that is being redeemed is locked and will be deleted; waiting for it here could deadlock.
  await trx
    .deleteFrom("account_link_codes")
    .where("code_hash", "in", (tooMany) =>
      tooMany
        .selectFrom("account_link_codes")
        .select("code_hash")
        .where("mc_uuid", "=", code.mcUuid)
        .orderBy("created_at", "desc")
        .orderBy("code_hash")
        .offset(code.keep)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
}

/** Locks a valid code: a parallel redemption waits and then finds none. */
export function lockBindCode(
  trx: IdentityTrx,
  about: { code: string; now: Date },
): Promise<Selectable<LinkCodesTable> | undefined> {
  return trx
    .selectFrom("account_link_codes")
    .selectAll()
    .where("code_hash", "=", hashBindCode(about.code))
    .where("expires_at", ">", about.now)
    .forUpdate()
    .executeTakeFirst();
}

/** The player of a valid code, unless an account has that player already. */
export async function findNewPlayer(
  db: IdentityDb,
  about: { code: string; now: Date },
): Promise<string | undefined> {
  const row = await db
    .selectFrom("account_link_codes")
    .select("mc_uuid")
    .where("code_hash", "=", hashBindCode(about.code))
    .where("expires_at", ">", about.now)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom("account_links")
            .select("user_id")
            .whereRef("account_links.mc_uuid", "=", "account_link_codes.mc_uuid"),
        ),
      ),
    )
    .executeTakeFirst();
  return row?.mc_uuid;
}

export async function spendBindCode(trx: IdentityTrx, codeHash: string): Promise<void> {
  await trx.deleteFrom("account_link_codes").where("code_hash", "=", codeHash).execute();
}

/** Takes every code of a player back. */
export async function dropBindCodes(trx: IdentityTrx, mcUuid: string): Promise<void> {
  await trx.deleteFrom("account_link_codes").where("mc_uuid", "=", mcUuid).execute();
}

/** Locks a player until the transaction ends: no other links, bars or creates an account for them. */
export async function lockPlayer(trx: IdentityTrx, mcUuid: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`player ${mcUuid}`}, 0))`.execute(trx);
}
