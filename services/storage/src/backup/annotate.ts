import type { AuditActor, Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { type backupKeeping, backups, Fault } from "@svc/proto";
import type { Scope } from "../access.ts";
import { recordAudit } from "../audit.ts";
import type { BackupRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { decidePin, type Pin, pinOf } from "./policy.ts";
import { toBackupView, toKeptBackup } from "./row.ts";
import { findInScope } from "./shared-scope.ts";
import { annotateBackup, countOwnPins, findBackup } from "./store.ts";

type Needs = Pick<StorageDeps, "db" | "now" | "settings">;
type Annotation = {
  id: string;
  scope: Scope;
  label?: string | undefined;
  pinned?: boolean | undefined;
  audit: AuditActor;
};

/** storage.backup.annotate */
export const annotate =
  (deps: Needs): Handler<typeof backupKeeping.annotateBackup> =>
  async (context, wanted) =>
    toKeptBackup(await change(deps, { ...wanted, scope: { kind: "all" }, audit: auditActor(context) }));

/** storage.backup.edit */
export const edit =
  (deps: Needs & Pick<StorageDeps, "mesh">): Handler<typeof backups.edit> =>
  async (context, wanted) => {
    if (wanted.label === undefined && wanted.pinned === undefined) {
      throw new Fault("bad_request", { message: "Give label, pinned or both." });
    }
    const { scope } = await findInScope(deps, context.principal, { id: wanted.id, to: backups.edit });
    const row = await change(deps, { ...wanted, scope, audit: auditActor(context) });
    return toBackupView(row, context.principal);
  };

async function change(deps: Needs, { scope, audit, ...wanted }: Annotation): Promise<BackupRow> {
  const { id, label, pinned } = wanted;
  const given = { ...(label !== undefined && { label }), ...(pinned !== undefined && { pinned }) };
  return deps.db.transaction().execute(async (trx) => {
    const found = await findBackup(trx, { scope, id, lock: true });
    if (!found) throw new Fault("no_backup");
    const by = scope.kind === "all" ? "staff" : "owner";
    const pin = pinned === undefined ? undefined : decidePin(pinOf(found), { by, pinned });
    if (pin === "refused") throw new Fault("backup_pinned");
    if (scope.kind === "owner" && pin === "owner" && pinOf(found) === "none") {
      const { owner_pins: limit } = deps.settings.archive;
      if ((await countOwnPins(trx, found.former_owner ?? scope.userId)) >= limit)
        throw new Fault("pin_limit");
    }
    const { server_name } = found;
    const payload = { backup_id: id, ...given };
    await recordAudit(trx, { ...audit, action: "backup.annotate", server_name, payload });
    return annotateBackup(trx, { id, ...labelAndPin({ label, pin }), now: new Date(deps.now()) });
  });
}

function labelAndPin({ label, pin }: { label: string | undefined; pin: Pin | undefined }) {
  return { ...(label !== undefined && { label }), ...(pin !== undefined && { pin }) };
}
