// SQL on the names that players had at their last join.

import type { Trx } from "@svc/store";
import { sql } from "kysely";
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

const mostFound = 500;

/** Players whose names contain a text, those who joined last first. */
export async function findPlayersNamed({ db }: LifecycleStore, text: string): Promise<string[]> {
  const rows = await db
    .selectFrom("player_names")
    .select("mc_uuid")
    .where(sql<boolean>`position(${text.toLowerCase()} in lower(name)) > 0`)
    .orderBy("seen_at", "desc")
    .limit(mostFound)
    .execute();
  return rows.map(({ mc_uuid }) => mc_uuid);
}
