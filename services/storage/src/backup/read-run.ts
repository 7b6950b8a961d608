import type { Handler } from "@svc/mesh";
import type { backups } from "@svc/proto";
import type { StorageDeps } from "../deps.ts";
import { toWorldJob } from "../job/row.ts";
import { findJob } from "../job/store.ts";

/** storage.backup.read-run */
export const readRun =
  ({ db }: Pick<StorageDeps, "db">): Handler<typeof backups.readBackupRun> =>
  async (context, { job }) => {
    const row = await findJob(db, job);
    if (!row) throw context.fault("not_found");
    const { state, message } = toWorldJob(row);
    return { state, ...(message !== undefined && { message }) };
  };
