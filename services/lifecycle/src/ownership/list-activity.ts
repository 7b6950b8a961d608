import type { Handler } from "@svc/mesh";
import { ownership, settings } from "@svc/proto";
import { assertAccess, mayReadFile } from "../access/assert.ts";
import { findByUserName } from "../server/deps.ts";
import { withoutClosedPaths } from "./activity-paths.ts";
import { callerOf } from "./caller.ts";
import { type contracts, findRow, type OwnershipDeps } from "./deps.ts";

export const listActivity =
  (deps: OwnershipDeps): Handler<typeof contracts.listActivity> =>
  async (context, { name, ...page }) => {
    await findByUserName(deps, name);
    const row = await findRow(deps, name);
    const as = assertAccess(context, { name, row, to: ownership.listActivity });
    const { accountId = "", isStaff } = callerOf(context);
    const about = { server: name, viewer: accountId, ...page };
    if (as === "staff" || isStaff) return deps.mesh.call(settings.listActivity, about, context);
    const since = await deps.ownership.claimedAt(name, row.ownerId ?? "");
    if (!since) return { entries: [] };
    const found = { ...about, since: since.toISOString() };
    const { entries, ...paging } = await deps.mesh.call(settings.listActivity, found, context);
    const mayRead = (path: string) => mayReadFile(context, { name, row, path });
    return { ...paging, entries: entries.map((entry) => withoutClosedPaths(entry, mayRead)) };
  };
