// The two Jobs of a move. Neither mounts the archive folder: the one on the source sends the archive, the one on the
// target fetches it, each with its own ticket. Pure.

import type { Settings } from "../config.ts";
import type { BackupRow } from "../database/tables.ts";
import type { MoveRow } from "../database/world-migrations.ts";
import type { Ticket } from "../job/archive-ticket.ts";
import type { JobSpec } from "../job/spec.ts";

export function jobName({ id, attempt }: MoveRow, step: "backup" | "restore"): string {
  return `migration-${id.slice(0, 16)}-${attempt}-${step}`;
}

export function jobNames(row: MoveRow): string[] {
  return [jobName(row, "backup"), jobName(row, "restore")];
}

export function sourceJobSpec(row: MoveRow, ticket: Ticket, { storage }: Settings): JobSpec {
  return {
    name: jobName(row, "backup"),
    server: row.server_name,
    manager: "svc-backup",
    task: { mode: "backup", to: ticket.place, keep_free: storage.keep_free },
    secret: ticket.secret,
    deadlineMs: storage.move_deadline,
    world: { claim: row.source_claim, mode: "ro" },
    node: row.source_node,
  };
}

/** Every file is compared with the archive before the trees are swapped. */
export function targetJobSpec(
  row: MoveRow,
  from: { backup: BackupRow; ticket: Ticket },
  { storage }: Settings,
): JobSpec {
  return {
    name: jobName(row, "restore"),
    server: row.server_name,
    manager: "svc-restore",
    task: { mode: "restore", from: from.ticket.place, sha256: from.backup.sha256, compare: true },
    secret: from.ticket.secret,
    deadlineMs: storage.move_deadline,
    world: { claim: row.target_claim, mode: "rw" },
    node: row.target_node,
  };
}
