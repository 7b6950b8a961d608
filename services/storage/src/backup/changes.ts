import type { Handler } from "@svc/mesh";
import { backupChanges } from "@svc/proto";
import type { BackupRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import type { JobSlots } from "../file/job-slots.ts";
import { readPath } from "../file/path.ts";
import { placeOf, readArchives, type Waiting } from "./read-archives.ts";
import { findInScope } from "./shared-scope.ts";
import { findBackup } from "./store.ts";

/** storage.backup.compare */
export const compare =
  (deps: StorageDeps): Handler<typeof backupChanges.compareBackups> =>
  async (context, { id, since, path: given }) => {
    const path = readPath(given);
    const find = (one: string) => findBackup(deps.db, { scope: { kind: "all" }, id: one });
    const [row, base] = [await find(id), await find(since)];
    if (!row || !base) throw context.fault("no_backup");
    return readChanges(deps, context, { row, base, path });
  };

/** storage.backup.list-changes */
export const listChanges =
  (deps: StorageDeps, jobSlots: JobSlots): Handler<typeof backupChanges.listChanges> =>
  async (context, { id, since, path: given }) => {
    const { principal } = context;
    const path = readPath(given);
    const find = async (one: string) =>
      (await findInScope(deps, principal, { id: one, to: backupChanges.listChanges, reads: [path] })).backup;
    const [row, base] = [await find(id), await find(since)];
    if (row.corrupt_at !== null || base.corrupt_at !== null) throw context.fault("backup_corrupt");
    const caller = principal.kind === "account" ? principal.user_id : principal.kind;
    return jobSlots.run(caller, () => readChanges(deps, context, { row, base, path }));
  };

type Compared = { row: BackupRow; base: BackupRow; path: string };

async function readChanges(
  deps: StorageDeps,
  context: Waiting,
  { row, base, path }: Compared,
): Promise<backupChanges.BackupChanges> {
  const { changes } = await readArchives(deps, context, {
    server: row.server_name,
    task: { mode: "compare", from: placeOf(row), base: placeOf(base), path },
  });
  if (!changes) throw new Error("the Job of a comparison answered without a result");
  return { id: row.id, since: base.id, path, ...changes };
}
