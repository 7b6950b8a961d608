// Platform settings and the audit log (docs/reference/audit.md#search).

import type { Handler } from "@svc/mesh";
import { settings } from "@svc/proto";
import { listActivity } from "../audit/activity.ts";
import { recordAudit } from "../audit/record.ts";
import { searchEntries } from "../audit/search.ts";
import type { Deps } from "../deps.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { readPlatformSettings, savePlatformSettings } from "./store.ts";

export function serveSettings(deps: ServiceDeps): void {
  deps.mesh.serve(settings.readSettings, createReadSettings(deps));
  deps.mesh.serve(settings.writeSettings, createWriteSettings(deps));
  deps.mesh.serve(settings.searchAudit, createSearchAudit(deps));
  deps.mesh.serve(settings.listActivity, createListActivity(deps));
}

/** identity.setting.read */
function createReadSettings(deps: Deps): Handler<typeof settings.readSettings> {
  return () => readPlatformSettings(deps.db);
}

/** identity.setting.write */
function createWriteSettings(deps: Deps): Handler<typeof settings.writeSettings> {
  return async (context, change) => {
    await deps.db.transaction().execute(async (trx) => {
      await savePlatformSettings(trx, change, deps.now());
      await recordAudit(trx, context, { action: "settings.update", payload: { ...change } });
    });
    return readPlatformSettings(deps.db);
  };
}

/** identity.audit.list-activity */
function createListActivity(deps: Deps): Handler<typeof settings.listActivity> {
  return async (context, { cursor, viewer, ...filter }) => {
    const found = await listActivity(deps.db, { ...filter, cursor }, viewer);
    if (found === "bad_cursor") throw context.fault("bad_request", { message: badCursor });
    return found;
  };
}

const badCursor = "cursor: must be the `next` of an earlier answer";

/** identity.audit.search */
function createSearchAudit(deps: Deps): Handler<typeof settings.searchAudit> {
  return async (context, { cursor, ...filter }) => {
    const found = await searchEntries(deps.db, { ...filter, cursor });
    if (found === "bad_cursor") throw context.fault("bad_request", { message: badCursor });
    return found;
  };
}
