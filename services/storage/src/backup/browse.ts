import type { Handler } from "@svc/mesh";
import { type backupKeeping, backups } from "@svc/proto";
import type { TaskDone } from "@svc/proto/world-task";
import type { BackupRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import type { JobSlots } from "../file/job-slots.ts";
import { readPath } from "../file/path.ts";
import { placeOf, readArchives, type Waiting } from "./read-archives.ts";
import { findInScope } from "./shared-scope.ts";
import { findBackup } from "./store.ts";

/** storage.backup.browse */
export const browse =
  (deps: StorageDeps): Handler<typeof backupKeeping.browseBackup> =>
  async (context, { id, path }) => {
    const row = await findBackup(deps.db, { scope: { kind: "all" }, id });
    if (!row) throw context.fault("no_backup");
    return readFolder(deps, context, { row, path });
  };

/** storage.backup.list-files */
export const listFiles =
  (deps: StorageDeps, jobSlots: JobSlots): Handler<typeof backups.listFiles> =>
  async (context, { id, path: given }) => {
    const { principal } = context;
    const path = readPath(given);
    const { backup: row } = await findInScope(deps, principal, {
      ...{ id, to: backups.listFiles, reads: [path] },
    });
    if (row.corrupt_at !== null) throw context.fault("backup_corrupt");
    const caller = principal.kind === "account" ? principal.user_id : principal.kind;
    return jobSlots.run(caller, () => readFolder(deps, context, { row, path }));
  };

async function readFolder(
  deps: StorageDeps,
  context: Waiting,
  { row, path }: { row: BackupRow; path: string },
): Promise<backups.BackupFolder> {
  const done = await readArchives(deps, context, {
    server: row.server_name,
    task: { mode: "browse", from: placeOf(row), path },
  });
  return { path, ...fitListing(done, messageBytes) };
}

/** Capacity of one message without its envelope. */
const messageBytes = 768 * 1_024;

type Listed = Pick<TaskDone, "listing" | "truncated">;

/** The part of a listing that fits into `bytes`. */
export function fitListing({ listing = [], truncated = false }: Listed, bytes: number) {
  let left = bytes;
  const end = listing.findIndex((entry) => {
    left -= Buffer.byteLength(JSON.stringify(entry)) + 1;
    return left < 0;
  });
  return end < 0 ? { entries: listing, truncated } : { entries: listing.slice(0, end), truncated: true };
}
