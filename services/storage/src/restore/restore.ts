import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { backups } from "@svc/proto";
import { assertUserName } from "../access.ts";
import type { StorageDeps } from "../deps.ts";
import { beginRestore } from "./begin.ts";
import { readRestoredPaths } from "./paths.ts";

/** storage.backup.restore */
export const restore =
  (deps: StorageDeps): Handler<typeof backups.restore> =>
  async (context, { name, backup_id, safety_snapshot, only: given }) => {
    assertUserName(name);
    const only = given && readRestoredPaths(given);
    const about = auditActor(context);
    const { backup, hasSnapshot } = await beginRestore(deps, {
      server: name,
      principal: context.principal,
      startedBy: about.actor,
      hasSnapshot: safety_snapshot,
      audit: about,
      ...(backup_id !== undefined && { backupId: backup_id }),
      ...(only && { only }),
    });
    return { name, status: "restoring", backup_id: backup.id, safety_snapshot: hasSnapshot };
  };
