import type { Handler } from "@svc/mesh";
import type { users } from "@svc/proto";
import { recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { sourceOf } from "../link/policy.ts";
import { deleteLink, linkPlayer } from "../link/store.ts";
import { lockUser } from "./store.ts";

/** identity.user.add-link */
export function createAddLink(deps: Deps): Handler<typeof users.addLink> {
  return async (context, { id, mc_uuid, auth_source }) => {
    const authSource = auth_source ?? sourceOf(mc_uuid);
    const payload = { user_id: id, mc_uuid, auth_source: authSource };
    await deps.db.transaction().execute(async (trx) => {
      if (!(await lockUser(trx, id))) throw context.fault("not_found", { message: "User not found." });
      await linkPlayer(trx, { userId: id, mcUuid: mc_uuid, authSource, now: deps.now() });
      await recordAudit(trx, context, { action: "user.link.add", payload });
    });
    return { ok: true, mc_uuid, auth_source: authSource };
  };
}

/** identity.user.remove-link */
export function createRemoveLink(deps: Deps): Handler<typeof users.removeLink> {
  return async (context, { id, mc_uuid }) => {
    await deps.db.transaction().execute(async (trx) => {
      if (!(await deleteLink(trx, { userId: id, mcUuid: mc_uuid })))
        throw context.fault("not_found", { message: "This player is not linked to this user." });
      await recordAudit(trx, context, { action: "user.link.remove", payload: { user_id: id, mc_uuid } });
    });
    return { ok: true, mc_uuid };
  };
}
