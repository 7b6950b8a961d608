// The proof by a passkey (docs/reference/server-transfer.md#states): the only one for a source that has any.

import type { Handler } from "@svc/mesh";
import { type AccountPrincipal, type accountMigrations, Fault } from "@svc/proto";
import { lockLiveAccount } from "../account/store.ts";
import { type Requester, recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import type { PasskeyDeps } from "../passkey/deps.ts";
import { beginStepUp, finishStepUp } from "../passkey/step-up.ts";
import { getAccount } from "../principal.ts";
import { atOf } from "./issue-code.ts";
import { stateFor } from "./policy.ts";
import { confirmTransfer, findUnfinished } from "./store.ts";

const purpose = "migrate";

/** identity.account-transfer.begin-passkey */
export function createBeginPasskey(deps: PasskeyDeps): Handler<typeof accountMigrations.beginPasskey> {
  return async (context) => {
    const { user_id: userId, session } = getAccount(context.principal);
    if (!(await findUnfinished(deps.db, userId))) throw context.fault("no_migration");
    return { publicKey: await beginStepUp(deps, { userId, session, purpose }) };
  };
}

/** identity.account-transfer.finish-passkey */
export function createFinishPasskey(deps: PasskeyDeps): Handler<typeof accountMigrations.finishPasskey> {
  return async (context, { assertion }) => {
    const caller = getAccount(context.principal);
    const { user_id: userId, session } = caller;
    if (!(await findUnfinished(deps.db, userId))) throw context.fault("no_migration");
    if (!(await finishStepUp(deps, { userId, session, purpose, assertion }))) {
      deps.events.signInFailed(context, { door: "account_migration", reason: "bad_assertion" });
      throw context.fault("passkey_login_invalid");
    }
    await confirm(deps, context, caller);
    return { confirmed: true };
  };
}

// A new proof replaces an earlier one, but not a code that was issued.
async function confirm(deps: Deps, requester: Requester, caller: AccountPrincipal): Promise<void> {
  await deps.db.transaction().execute(async (trx) => {
    if (!(await lockLiveAccount(trx, caller.user_id))) throw new Fault("unauthorized");
    const transfer = await findUnfinished(trx, caller.user_id);
    if (!transfer) throw new Fault("no_migration");
    const at = atOf(deps, caller);
    if (stateFor(transfer, at) === "code_issued") throw new Fault("already_confirmed");
    const proof = { id: transfer.id, factor: "passkey", session: caller.session, now: at.now } as const;
    await confirmTransfer(trx, proof);
    const payload = { factor: "passkey" };
    await recordAudit(trx, requester, { action: "account.migrate.confirm", payload });
  });
}
