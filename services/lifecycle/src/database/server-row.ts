// The row of one server.

import type { RetireState, SharedServer } from "@svc/proto";
import type { Trx } from "@svc/store";
import { readMembers, type StoredMember } from "./member.ts";
import type { Tables } from "./schema.ts";

/** What the database adds to a server's object. */
export type ServerRow = {
  ownerId: string | undefined;
  retiring: RetireState | undefined;
  /** Whether players may claim it while it has no owner; operators always may. */
  offered: boolean;
  /** Whom the owner shares it with, those whose access has ended among them; absent: nobody. */
  members?: readonly StoredMember[] | undefined;
};

/** CPU in milli, memory and storage in MB, as quotas count them. */
export type Costs = { cpuMilli: number; memoryMb: number; storageMb: number };

export const rowColumns = ["owner_id", "retire_requested_at", "retire_delete", "offered", "members"] as const;
export type RowColumns = {
  owner_id: string | null;
  retire_requested_at: Date | null;
  retire_delete: boolean;
  offered: boolean;
  members: unknown;
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
    members: readMembers(row.members),
  };
}

/** What decides who may do what at a server; a server without a row is nobody's. */
export function sharedOf(name: string, row: ServerRow | undefined): SharedServer {
  return { name, ownerId: row?.ownerId, members: row?.members ?? [] };
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
