// SQL on the names that players had at their last join.

import type { Trx } from "@svc/store";
import type { LifecycleStore, Tables } from "../database/schema.ts";

type Seen = { uuid: string; name: string; at: Date };

export async function rememberName(trx: Trx<Tables>, { uuid, name, at }: Seen): Promise<void> {
  await trx
    .insertInto("player_names")
    .values({ mc_uuid: uuid, name, seen_at: at })
    .onConflict((conflict) => conflict.column("mc_uuid").doUpdateSet({ name, seen_at: at }))
    .execute();
}

/** Names by UUID; players who never joined are omitted. */
export async function findNames(
  { db }: LifecycleStore,
  uuids: readonly string[],
): Promise<Record<string, string>> {
  if (uuids.length === 0) return {};
  const rows = await db
    .selectFrom("player_names")
    .select(["mc_uuid", "name"])
    .where((where) => where("mc_uuid", "=", where.fn.any(where.val([...uuids]))))
    .execute();
  return Object.fromEntries(rows.map(({ mc_uuid, name }) => [mc_uuid, name]));
}
