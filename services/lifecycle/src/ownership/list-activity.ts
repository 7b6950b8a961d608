import type { Handler } from "@svc/mesh";
import { settings } from "@svc/proto";
import { findByUserName } from "../server/deps.ts";
import { callerOf, mayManage } from "./caller.ts";
import { type contracts, findRow, type OwnershipDeps } from "./deps.ts";

export const listActivity =
  (deps: OwnershipDeps): Handler<typeof contracts.listActivity> =>
  async (context, { name, ...page }) => {
    await findByUserName(deps, name);
    const caller = callerOf(context);
    if (!mayManage(await findRow(deps, name), caller)) {
      throw context.fault("forbidden", {
        message: "Only the owner of a server may see what was done to it.",
      });
    }
    const about = { server: name, viewer: caller.accountId ?? "", ...page };
    if (caller.isStaff) return deps.mesh.call(settings.listActivity, about, context);
    const since = await deps.ownership.claimedAt(name, caller.accountId ?? "");
    if (!since) return { entries: [] };
    return deps.mesh.call(settings.listActivity, { ...about, since: since.toISOString() }, context);
  };
