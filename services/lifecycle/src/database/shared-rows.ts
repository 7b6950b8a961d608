// SQL on the servers that are shared with an account.

import type { Db, Trx } from "@svc/store";
import { type RawBuilder, sql } from "kysely";
import type { Tables } from "./schema.ts";
import { rowColumns, rowOf, type ServerRow } from "./server-row.ts";

/** True for a server that has such a member, whether its access has ended or not; uses the index of members. */
export function isMember(accountId: string): RawBuilder<boolean> {
  const entry = JSON.stringify([{ user_id: accountId }]);
  return sql<boolean>`(members <> '[]' and members @> ${entry}::jsonb)`;
}

/** Servers with such a member, in the order of their names. */
export async function sharedRows(
  db: Db<Tables> | Trx<Tables>,
  accountId: string,
): Promise<{ name: string; row: ServerRow }[]> {
  const rows = await db
    .selectFrom("servers")
    .select(["name", ...rowColumns])
    .where("deleted_at", "is", null)
    .where(isMember(accountId))
    .orderBy("name")
    .execute();
  return rows.map((row) => ({ name: row.name, row: rowOf(row) }));
}
