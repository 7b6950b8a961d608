// SQL on what one account owns and has made, under the account's own lock.

import type { Db, Trx } from "@svc/store";
import { sql } from "kysely";
import type { Tables } from "./schema.ts";
import type { Costs } from "./server-row.ts";

/** What an account's servers cost together; `servers` counts them. */
export type Usage = Costs & { servers: number };

// Two keys, so that it differs from the lock that another service takes for the same account.
export async function lockAccounts(trx: Trx<Tables>, ...accountIds: string[]): Promise<void> {
  for (const id of [...new Set(accountIds)].sort()) {
    await sql`select pg_advisory_xact_lock(hashtext('lifecycle.account'), hashtext(${id}))`.execute(trx);
  }
}

export async function usageOf(db: Db<Tables> | Trx<Tables>, accountId: string): Promise<Usage> {
  const row = await db
    .selectFrom("servers")
    .select([
      sql<number>`count(*)`.as("servers"),
      sql<number>`coalesce(sum(cached_cpu_milli), 0)::bigint`.as("cpuMilli"),
      sql<number>`coalesce(sum(cached_memory_mb), 0)::bigint`.as("memoryMb"),
      sql<number>`coalesce(sum(cached_storage_mb), 0)::bigint`.as("storageMb"),
    ])
    .where("owner_id", "=", accountId)
    .where("deleted_at", "is", null)
    .executeTakeFirstOrThrow();
  return row;
}

/** Servers that an account has made for itself and that are there, whoever owns them. */
export async function countMade(db: Db<Tables> | Trx<Tables>, accountId: string): Promise<number> {
  const { made } = await db
    .selectFrom("servers")
    .select(sql<number>`count(*)::int`.as("made"))
    .where("created_by", "=", accountId)
    .where("deleted_at", "is", null)
    .executeTakeFirstOrThrow();
  return made;
}
