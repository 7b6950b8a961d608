import type { Handler } from "@svc/mesh";
import type { users } from "@svc/proto";
import { deleteCredentialsOf } from "../passkey/store.ts";
import { getAccount } from "../principal.ts";
import { requireReauth } from "../reauth/require.ts";
import type { Serving } from "../serving.ts";
import { auditUser } from "./audit.ts";
import { lockUser } from "./store.ts";

/** identity.user.remove-passkeys: for somebody who lost them; one's own only with a fresh proof. */
export function createRemoveUserPasskeys({ mesh, deps }: Serving): Handler<typeof users.removePasskeys> {
  return async (context, { id }) => {
    const caller = getAccount(context.principal);
    const removed = await deps.db.transaction().execute(async (trx) => {
      const account = await lockUser(trx, id);
      if (!account) throw context.fault("not_found", { message: "There is no such user." });
      if (id === caller.user_id) await requireReauth(deps, trx, { account, session: caller.session });
      return deleteCredentialsOf(trx, id);
    });
    auditUser(mesh, context, { action: "user.passkeys.remove", payload: { user_id: id, removed } });
    return { ok: true };
  };
}
