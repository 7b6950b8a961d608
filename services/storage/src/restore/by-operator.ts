import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { backupKeeping } from "@svc/proto";
import { findBackup } from "../backup/store.ts";
import type { StorageDeps } from "../deps.ts";
import { beginRestore } from "./begin.ts";
import { readRestoredPaths } from "./paths.ts";

/** storage.backup.restore-by-operator */
export const restoreByOperator =
  (deps: StorageDeps): Handler<typeof backupKeeping.restoreByOperator> =>
  async (context, { id, only: given, safety_snapshot }) => {
    const only = given && readRestoredPaths(given);
    const found = await findBackup(deps.db, { scope: { kind: "all" }, id });
    if (!found) throw context.fault("no_backup");
    const name = found.server_name;
    const about = auditActor(context);
    const { hasSnapshot } = await beginRestore(deps, {
      server: name,
      principal: context.principal,
      startedBy: about.actor,
      backupId: id,
      hasSnapshot: safety_snapshot,
      audit: about,
      ...(only && { only }),
    });
    return { name, backup_id: id, safety_snapshot: hasSnapshot };
  };
