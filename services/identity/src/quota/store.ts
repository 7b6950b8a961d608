// All SQL of quotas.

import type { quotas } from "@svc/proto";
import { sql } from "kysely";
import type { IdentityDb } from "../database.ts";

type Limits = quotas.Limits;
const columns = ["max_servers", "max_cpu_milli", "max_memory_mb", "max_storage_gb"] as const;
export const unlimited: Limits = {
  max_servers: null,
  max_cpu_milli: null,
  max_memory_mb: null,
  max_storage_gb: null,
};

// A source account may not claim servers during its transfer.
const isTransferring = sql<boolean>`exists (select 1 from account_migrations m
  where m.source_user_id = u.id and m.state = 'redeeming')`;

/** A user's limits and whether they may own anything new; undefined for an unknown user. */
export async function findQuota(
  db: IdentityDb,
  userId: string,
): Promise<{ limits: Limits; active: boolean } | undefined> {
  const row = await db
    .selectFrom("users as u")
    .leftJoin("quotas as q", "q.user_id", "u.id")
    .where("u.id", "=", userId)
    .select(["u.disabled", "u.deleted_at", isTransferring.as("is_transferring")])
    .select(columns.map((column) => `q.${column}` as const))
    .executeTakeFirst();
  if (!row) return undefined;
  const { disabled, deleted_at, is_transferring, ...limits } = row;
  return { limits, active: !disabled && deleted_at === null && !is_transferring };
}

/** Replaces all four; false for an unknown user. */
export async function saveQuota(
  db: IdentityDb,
  quota: { userId: string; limits: Limits; by: string },
): Promise<boolean> {
  const { userId, limits, by } = quota;
  const saved = await db
    .insertInto("quotas")
    .columns(["user_id", ...columns, "updated_by"])
    .expression((from) =>
      from
        .selectFrom("users")
        .where("id", "=", userId)
        .where("deleted_at", "is", null)
        .select((select) => [
          "id" as const,
          ...columns.map((column) =>
            select.cast<number | null>(select.val(limits[column]), "integer").as(column),
          ),
          select.cast<string>(select.val(by), "text").as("updated_by"),
        ]),
    )
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet({ ...limits, updated_by: by }))
    .executeTakeFirst();
  return (saved.numInsertedOrUpdatedRows ?? 0n) > 0n;
}
