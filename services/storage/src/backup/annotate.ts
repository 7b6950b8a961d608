import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { backupKeeping } from "@svc/proto";
import { recordAudit } from "../audit.ts";
import type { StorageDeps } from "../deps.ts";
import { toKeptBackup } from "./row.ts";
import { annotateBackup } from "./store.ts";

/** storage.backup.annotate */
export const annotate =
  (deps: Pick<StorageDeps, "db" | "now">): Handler<typeof backupKeeping.annotateBackup> =>
  async (context, { id, label, pinned }) => {
    const change = { ...(label !== undefined && { label }), ...(pinned !== undefined && { pinned }) };
    const payload = { backup_id: id, ...change };
    const row = await deps.db.transaction().execute(async (trx) => {
      const changed = await annotateBackup(trx, { id, ...change, now: new Date(deps.now()) });
      if (!changed) throw context.fault("no_backup");
      const { server_name } = changed;
      await recordAudit(trx, { ...auditActor(context), action: "backup.annotate", server_name, payload });
      return changed;
    });
    return toKeptBackup(row);
  };
