import { basename } from "node:path";
import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { exports, Fault } from "@svc/proto";
import { scopeAt } from "../access.ts";
import { findBackup } from "../backup/store.ts";
import { auditFile } from "../file/audit.ts";
import { openWorld } from "../file/open-world.ts";
import type { ExportDeps } from "./deps.ts";
import { archiveType } from "./filename.ts";
import { assertExports, startExport } from "./start.ts";

/** storage.export.start-backup: searched in the caller's scope first (docs/reference/exports.md#content). */
export const startBackup =
  (deps: ExportDeps): Handler<typeof exports.startBackup> =>
  async (context, { name: server, id }) => {
    const { principal } = context;
    const wanted = { to: exports.startBackup };
    const world = await openWorld(deps, { principal, server, ...wanted });
    if (principal.kind !== "account") throw context.fault("forbidden");
    const backup = await findBackup(deps.db, { scope: scopeAt(principal, world, wanted), id });
    if (!backup) throw context.fault("no_backup");
    if (backup.server_name !== server) {
      throw new Fault("forbidden", { message: "This backup belongs to another server." });
    }
    if (backup.corrupt_at !== null) throw context.fault("backup_corrupt");
    assertExports(deps);
    const archive = basename(backup.backup_ref);
    const { type, ending } = archiveType(archive);
    const ticket = await startExport(deps, {
      kind: "backup",
      backup_id: id,
      filename: `${server}-backup-${id}${ending}`,
      content_type: type,
      user_id: principal.user_id,
      is_staff: principal.staff,
      expected: { size: Number(backup.size_bytes), sha256: backup.sha256 },
      world,
      what: { kind: "backup", name: archive, sha256: backup.sha256 },
      startedBy: auditActor(context).actor,
    });
    auditFile(deps, context, { action: "backup.export", server, payload: { backup_id: id } });
    return ticket;
  };
