import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { backupKeeping } from "@svc/proto";
import type { StorageDeps } from "../deps.ts";
import { toKeptBackup } from "./row.ts";
import { annotateBackup } from "./store.ts";

/** storage.backup.annotate */
export const annotate =
  (deps: Pick<StorageDeps, "mesh" | "db" | "now">): Handler<typeof backupKeeping.annotateBackup> =>
  async (context, { id, label, pinned }) => {
    const change = { ...(label !== undefined && { label }), ...(pinned !== undefined && { pinned }) };
    const row = await annotateBackup(deps.db, { id, ...change, now: new Date(deps.now()) });
    if (!row) throw context.fault("no_backup");
    const payload = { backup_id: id, ...change };
    const { server_name } = row;
    deps.mesh.audit({ ...auditActor(context), action: "backup.annotate", server_name, payload });
    return toKeptBackup(row);
  };
