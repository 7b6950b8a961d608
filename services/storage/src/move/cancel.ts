import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { migrations } from "@svc/proto";
import { assertUserName } from "../access.ts";
import { recordAudit } from "../audit.ts";
import type { StorageDeps } from "../deps.ts";
import { cancelMove, findMove, findMoveBackup } from "./store.ts";
import { toMoveView } from "./view.ts";

/** storage.migration.cancel: recorded here; the leader cleans up (cancel-cleanup.ts). */
export const cancel =
  (deps: Pick<StorageDeps, "db" | "now">): Handler<typeof migrations.cancel> =>
  async (context, { name, id }) => {
    assertUserName(name);
    const row = await findMove(deps.db, name, id);
    if (!row) throw context.fault("not_found", { message: `There is no such move of ${name}.` });
    const about = auditActor(context);
    if (row.cancelled_at === null) {
      const by = about.actor;
      const message = `cancelled by ${by}; the world is where it was${row.error && ` (${row.error})`}`;
      const payload = { migration: id, stage: row.stage };
      await deps.db.transaction().execute(async (trx) => {
        const done = await cancelMove(trx, id, { by, message, now: new Date(deps.now()) });
        if (!done) throw context.fault("migration_over");
        await recordAudit(trx, { ...about, action: "world.migrate_cancel", server_name: name, payload });
      });
    }
    const now = (await findMove(deps.db, name, id)) ?? row;
    return toMoveView(now, await findMoveBackup(deps.db, now));
  };
