// All SQL of barred players and the holds on their data.

import { links } from "@svc/proto";
import { outboxRow } from "@svc/store";
import type { Selectable } from "kysely";
import type { HoldsTable, IdentityDb, IdentityTrx } from "../database.ts";
import { mintId } from "../secret.ts";

export async function isBarred(db: IdentityDb, mcUuid: string): Promise<boolean> {
  const row = await db
    .selectFrom("username_blacklist")
    .select("mc_uuid")
    .where("mc_uuid", "=", mcUuid)
    .executeTakeFirst();
  return row !== undefined;
}

type Bar = { mcUuid: string; username: string; now: Date };

/** Bars a UUID and announces it; a repeat changes nothing and is announced again. */
export async function bar(trx: IdentityTrx, { mcUuid, username, now }: Bar): Promise<void> {
  await trx
    .insertInto("username_blacklist")
    .values({ mc_uuid: mcUuid, username, blacklisted_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const event = { mc_uuid: mcUuid, username, at: now.toISOString() };
  await trx.insertInto("outbox").values(outboxRow(links.playerBarred, event)).execute();
}

/** Unbars a UUID. False when it was not barred. */
export async function unbar(trx: IdentityTrx, mcUuid: string): Promise<boolean> {
  const gone = await trx.deleteFrom("username_blacklist").where("mc_uuid", "=", mcUuid).executeTakeFirst();
  return gone.numDeletedRows > 0n;
}

type Hold = Bar & { dataRef: string | undefined; expiresAt: Date };

/** Holds a player's data. A repeat returns the existing hold, unless it has expired. */
export async function holdData(trx: IdentityTrx, hold: Hold): Promise<Selectable<HoldsTable>> {
  const fresh = {
    username: hold.username,
    data_ref: hold.dataRef ?? null,
    held_at: hold.now,
    expires_at: hold.expiresAt,
  };
  await trx
    .insertInto("player_data_holds")
    .values({ id: mintId(), mc_uuid: hold.mcUuid, ...fresh })
    .onConflict((conflict) =>
      conflict.column("mc_uuid").doUpdateSet(fresh).where("player_data_holds.expires_at", "<=", hold.now),
    )
    .execute();
  return trx
    .selectFrom("player_data_holds")
    .selectAll()
    .where("mc_uuid", "=", hold.mcUuid)
    .executeTakeFirstOrThrow();
}
