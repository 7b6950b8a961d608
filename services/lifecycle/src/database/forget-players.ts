// Counting visits, erasing and forgetting go one after the other, so that a visit that is being counted cannot bring back what
// is erased meanwhile (docs/reference/players.md#erase).

import type { Trx } from "@svc/store";
import { sql } from "kysely";
import type { Tables } from "./schema.ts";

/** Until the transaction ends nobody else counts, erases or forgets. */
export async function lockVisits(trx: Trx<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('known-players'))`.execute(trx);
}

/** Of servers that get another owner or none, and of those that are gone, in the transaction of that change. */
export async function forgetPlayers(trx: Trx<Tables>, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await lockVisits(trx);
  const isOne = sql<string>`any(${[...names]}::text[])`;
  await trx.deleteFrom("known_players").where("server_name", "=", isOne).execute();
}
