import type { Handler } from "@svc/mesh";
import { members, ownership, type Principal, settings } from "@svc/proto";
import { assertAccess, mayDo, mayReadFile } from "../access/assert.ts";
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
    const seesMembers = mayDo(context, { name, row, to: members.list });
    const visible = ({ entries, ...rest }: settings.ActivityPage): settings.ActivityPage => ({
      entries: entries.map((entry) => (seesMembers ? entry : withoutAccess(entry, context.principal))),
      ...rest,
    });
    if (as === "staff" || isStaff)
      return visible(await deps.mesh.call(settings.listActivity, about, context));
    const since = await deps.ownership.claimedAt(name, row.ownerId ?? "");
    if (!since) return { entries: [] };
    const own = { ...about, since: since.toISOString() };
    const { entries, ...paging } = visible(await deps.mesh.call(settings.listActivity, own, context));
    const mayRead = (path: string) => mayReadFile(context, { name, row, path });
    return { ...paging, entries: entries.map((entry) => withoutClosedPaths(entry, mayRead)) };
  };

/** What an access includes is for those who see the members, and for the session of the one whose access it is. */
function withoutAccess(
  { access, ...entry }: settings.ActivityEntry,
  principal: Principal,
): settings.ActivityEntry {
  const isTheirs =
    principal.kind === "account" && principal.token === undefined && access?.account === principal.username;
  return { ...entry, ...(access && isTheirs && { access }) };
}
