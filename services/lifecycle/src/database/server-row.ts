// The row of one server.

import type { RetireState } from "@svc/proto";
import type { Trx } from "@svc/store";
import type { Tables } from "./schema.ts";

/** What the database adds to a server's object. */
export type ServerRow = {
  ownerId: string | undefined;
  retiring: RetireState | undefined;
  /** Whether players may claim it while it has no owner; operators always may. */
  offered: boolean;
};

/** CPU in milli, memory and storage in MB, as quotas count them. */
export type Costs = { cpuMilli: number; memoryMb: number; storageMb: number };

export const rowColumns = ["owner_id", "retire_requested_at", "retire_delete", "offered"] as const;
export type RowColumns = {
  owner_id: string | null;
  retire_requested_at: Date | null;
  retire_delete: boolean;
  offered: boolean;
};

/** Players may claim a server that has no owner, is offered and is not retiring. */
export function isClaimable(row: ServerRow | undefined): boolean {
  return row === undefined || (row.ownerId === undefined && !row.retiring && row.offered);
}

export function rowOf(row: RowColumns): ServerRow {
  const requestedAt = row.retire_requested_at;
  return {
    ownerId: row.owner_id ?? undefined,
    retiring: requestedAt
      ? { requested_at: requestedAt.toISOString(), delete: row.retire_delete }
      : undefined,
    offered: row.offered,
  };
}

export function costColumns({ cpuMilli, memoryMb, storageMb }: Costs) {
  return { cached_cpu_milli: cpuMilli, cached_memory_mb: memoryMb, cached_storage_mb: storageMb };
}

/** The row of a live server, locked until the transaction ends. */
export async function lockRow(trx: Trx<Tables>, name: string): Promise<ServerRow | undefined> {
  const query = trx.selectFrom("servers").select(rowColumns).where("name", "=", name);
  const row = await query.where("deleted_at", "is", null).forUpdate().executeTakeFirst();
  return row && rowOf(row);
}
