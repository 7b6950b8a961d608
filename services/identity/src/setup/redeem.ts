import type { Handler } from "@svc/mesh";
import type { accounts } from "@svc/proto";
import { isInSetup } from "../account/policy.ts";
import { toSetupState } from "../account/setup-state.ts";
import { type Account, hasPasskey, lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { createSession } from "../session/store.ts";
import { findTokenOwner, spendSetupTokens } from "./store.ts";

/**
 * identity.setup.redeem: while the account has no way in, its link can be used repeatedly, and gaining a way in
 * spends it; for an account that has one, the link is spent here, in the transaction of the session.
 */
export function createRedeem(deps: Deps): Handler<typeof accounts.redeemSetup> {
  const { db, limits, events } = deps;
  return async (context, { token }) => {
    const now = deps.now();
    const signedIn = await db.transaction().execute(async (trx) => {
      const account = await lockHolder(trx, { token, now });
      if (!account) return undefined;
      const ways = { hasPasskey: await hasPasskey(trx, account.id) };
      const { role, email_verified: emailVerified } = account;
      if (!isInSetup({ role, emailVerified, ...ways }, deps.hasRelay))
        await spendSetupTokens(trx, { userId: account.id, now });
      const session = await createSession(trx, {
        userId: account.id,
        door: "setup",
        client: context.client,
        now,
        ttlMs: limits.session_ttl,
        isProof: true,
      });
      const subject = { userId: account.id, username: account.username };
      await recordAudit(trx, context, { action: "auth.setup.redeem", ...subject });
      return { account, session, ways };
    });
    if (!signedIn) {
      events.signInFailed(context, { door: "setup", reason: "bad_code" });
      throw context.fault("setup_token_invalid");
    }
    const { account, session, ways } = signedIn;
    context.reply.session = { value: session.value, expires_at: session.expiresAt.toISOString() };
    return toSetupState(account, { ...ways, hasRelay: deps.hasRelay });
  };
}

/** The account of a valid link, locked. The link is read again under the lock, which everybody who spends it takes. */
async function lockHolder(
  trx: IdentityTrx,
  about: { token: string; now: Date },
): Promise<Account | undefined> {
  const userId = await findTokenOwner(trx, about);
  const account = userId === undefined ? undefined : await lockLiveAccount(trx, userId);
  return account && (await findTokenOwner(trx, about)) === account.id ? account : undefined;
}
