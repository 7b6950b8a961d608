// The players of a signed-in account (docs/reference/links.md#own).

import type { Context, Handler } from "@svc/mesh";
import { Fault, type links } from "@svc/proto";
import { isStaffRole } from "../account/policy.ts";
import { hasIdentityAt, hasPasskey, lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import { deleteLink, listLinksOf, toLinkedAccount } from "../link/store.ts";
import { getAccount } from "../principal.ts";
import { revokeSessions } from "../session/store.ts";

/** identity.link.list-own */
export function createListLinks({ db }: Pick<Deps, "db">): Handler<typeof links.listOwn> {
  return async ({ principal }) => {
    const rows = await listLinksOf(db, getAccount(principal).user_id);
    return { links: rows.map(toLinkedAccount) };
  };
}

/** identity.link.remove-own */
export function createRemoveLink(deps: Deps): Handler<typeof links.removeOwn> {
  return async (context, { mc_uuid }) => {
    await deps.db.transaction().execute(async (trx) => {
      const count = await remove(deps, trx, { context, mcUuid: mc_uuid });
      await recordAudit(trx, context, { action: "account.unlink", payload: { mc_uuid } });
      await deps.events.sessionsRevoked(trx, context, { count, action: "account.session.revoke_others" });
    });
    return null;
  };
}

type Removal = { context: Context<typeof links.removeOwn>; mcUuid: string };

async function remove(deps: Deps, trx: IdentityTrx, { context, mcUuid }: Removal): Promise<number> {
  const { user_id: userId, session } = getAccount(context.principal);
  // The lock makes removals of the last two ways in go one after the other.
  const account = await lockLiveAccount(trx, userId);
  if (!account) throw new Fault("unauthorized");
  await requireReauth(deps, trx, { account, session });
  if (!(await deleteLink(trx, { userId, mcUuid }))) {
    throw context.fault("not_found", { message: "This player is not linked to your account." });
  }
  const isMailable = account.email_verified && deps.hasRelay;
  const hasAnotherWay =
    isMailable ||
    (await hasPasskey(trx, userId)) ||
    (await listLinksOf(trx, userId)).length > 0 ||
    (!isStaffRole(account.role) && (await hasIdentityAt(trx, { userId, issuers: deps.issuers })));
  // The transaction is rolled back, so the link stays.
  if (!hasAnotherWay) throw context.fault("last_link");
  return revokeSessions(trx, { userId, now: deps.now(), except: session });
}
