import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { type backupKeeping, Fault } from "@svc/proto";
import { findBackup } from "../backup/store.ts";
import type { StorageDeps } from "../deps.ts";
import { readPath } from "../file/path.ts";
import { beginRestore } from "./begin.ts";

/** storage.backup.restore-by-operator */
export const restoreByOperator =
  (deps: StorageDeps): Handler<typeof backupKeeping.restoreByOperator> =>
  async (context, { id, only: given, safety_snapshot }) => {
    const only = given && readPaths(given);
    const found = await findBackup(deps.db, { scope: { kind: "all" }, id });
    if (!found) throw context.fault("no_backup");
    const name = found.server_name;
    const about = auditActor(context);
    await beginRestore(deps, {
      server: name,
      principal: context.principal,
      startedBy: about.actor,
      backupId: id,
      hasSnapshot: safety_snapshot,
      audit: about,
      ...(only && { only }),
    });
    return { name, backup_id: id, safety_snapshot };
  };

/** They are passed to the Job in one environment variable, which holds 128 KiB. */
const pathsBytes = 64 * 1_024;

function readPaths(given: readonly string[]): string[] {
  const paths = given.map(readPath);
  if (Buffer.byteLength(JSON.stringify(paths)) <= pathsBytes) return paths;
  throw new Fault("bad_path", { message: "Too many paths for one restore; name their folder instead." });
}
