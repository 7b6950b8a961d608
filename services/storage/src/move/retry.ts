import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { migrations } from "@svc/proto";
import { assertUserName } from "../access.ts";
import type { StorageDeps } from "../deps.ts";
import { assertStopped, describeWorld } from "../job/world.ts";
import { assertTarget } from "../volume/node.ts";
import { holdsLock } from "./begin.ts";
import { abandon, findMove, findMoveBackup, retryMove } from "./store.ts";
import { toMoveView } from "./view.ts";

/** storage.migration.retry: continues with the step that failed. */
export const retry =
  (deps: StorageDeps): Handler<typeof migrations.retry> =>
  async (context, { name, id }) => {
    assertUserName(name);
    const row = await findMove(deps.db, name, id);
    if (!row) throw context.fault("not_found", { message: `There is no such move of ${name}.` });
    if (row.state !== "failed") throw context.fault("migration_not_failed");
    if (row.cancelled_at !== null) {
      const message = "The move was cancelled; start a new one.";
      throw context.fault("migration_not_failed", { message });
    }
    if (row.abandoned || !(await holdsLock(deps, row))) {
      await abandon(deps.db, id, new Date(deps.now()));
      const message = "Its lock was removed, so the world may have changed since; start a new move.";
      throw context.fault("migration_not_failed", { message });
    }
    assertStopped(await describeWorld(deps, name));
    await assertTarget(deps, row.target_node);
    const again = await retryMove(deps.db, {
      ...{ id, now: new Date(deps.now()) },
      audit: auditActor(context),
    });
    if (!again) throw context.fault("migration_not_failed");
    return toMoveView(again, await findMoveBackup(deps.db, again));
  };
