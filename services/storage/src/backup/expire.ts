import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { backups } from "@svc/proto";
import { recordAudit } from "../audit.ts";
import type { StorageDeps } from "../deps.ts";
import { isBackupInUse } from "../job/store.ts";
import { findInScope } from "./shared-scope.ts";
import { expireBackup, findBackup } from "./store.ts";

/** storage.backup.expire: the archive itself is deleted by the next daily run. */
export const expire =
  (deps: Pick<StorageDeps, "db" | "mesh" | "metrics" | "now">): Handler<typeof backups.expire> =>
  async (context, { id }) => {
    const { scope } = await findInScope(deps, context.principal, { id, to: backups.expire });
    const row = await deps.db.transaction().execute(async (trx) => {
      const found = await findBackup(trx, { scope, id, lock: true });
      if (!found) throw context.fault("no_backup");
      if (await isBackupInUse(trx, id)) throw context.fault("restore_in_progress");
      if (found.pinned_at !== null && scope.kind !== "all") throw context.fault("backup_pinned");
      const { server_name } = found;
      await expireBackup(trx, { id, server_name, why: "deleted", now: new Date(deps.now()) });
      const { reason, size_bytes } = found;
      const payload = { backup_id: id, reason, size_bytes };
      await recordAudit(trx, { ...auditActor(context), action: "backup.delete", server_name, payload });
      return found;
    });
    deps.metrics.counted("deleted", row.reason);
    return { id, status: "expired" };
  };
