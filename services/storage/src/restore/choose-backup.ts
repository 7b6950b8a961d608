// Which backup a restore takes (docs/reference/restore.md).

import { Fault } from "@svc/proto";
import type { Scope } from "../access.ts";
import { findBackup, findLatest } from "../backup/store.ts";
import type { BackupRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import type { WorldServer } from "../job/world.ts";

type Choice = { scope: Scope; backupId: string | undefined; world: WorldServer };

/**
 * The backup of that id, without one the newest sound one of the current owner. Throws `no_backup`, `backup_corrupt`, and
 * `forbidden` for one that was made when the world was somebody else's.
 */
export async function chooseBackup(
  { db }: Pick<StorageDeps, "db">,
  { scope, backupId, world: { name: server, owner_id: owner } }: Choice,
): Promise<BackupRow> {
  if (backupId === undefined) return assertRestorable(await findLatest(db, { scope, server, owner }), server);
  const found = await findBackup(db, { scope, id: backupId });
  if (found || scope.kind !== "owner") return assertRestorable(found, server);
  const foreign = await findBackup(db, { scope: { kind: "all" }, id: backupId });
  if (foreign?.server_name !== server) return assertRestorable(undefined, server);
  throw new Fault("forbidden", {
    message: "This backup was made when the world was not yours; staff can restore it.",
  });
}

/** Throws `no_backup` for one of another server, `backup_corrupt`. */
export function assertRestorable(backup: BackupRow | undefined, server: string): BackupRow {
  if (!backup || backup.server_name !== server) {
    throw new Fault("no_backup", { message: `There is no such backup of ${server}; list its backups.` });
  }
  if (backup.corrupt_at) throw new Fault("backup_corrupt");
  return backup;
}
