import type { Handler } from "@svc/mesh";
import type { accounts } from "@svc/proto";
import { toSetupState } from "../account/own.ts";
import { lockLiveAccount } from "../account/store.ts";
import type { Deps } from "../deps.ts";
import { hasPasskey } from "../passkey/store.ts";
import { createSession } from "../session/store.ts";
import { removeLinkFile } from "./link-file.ts";
import { spendSetupToken } from "./store.ts";

/** identity.setup.redeem: the token is spent in the transaction of the session, so a failure leaves it usable. */
export function createRedeem(deps: Deps): Handler<typeof accounts.redeemSetup> {
  const { db, limits, events } = deps;
  return async (context, { token }) => {
    const now = deps.now();
    const signedIn = await db.transaction().execute(async (trx) => {
      const userId = await spendSetupToken(trx, { token, now });
      const account = userId === undefined ? undefined : await lockLiveAccount(trx, userId);
      if (!account) return undefined;
      const session = await createSession(trx, {
        userId: account.id,
        door: "setup",
        client: context.client,
        now,
        ttlMs: limits.session_ttl,
        isProof: true,
      });
      return { account, session, ways: { hasPasskey: await hasPasskey(trx, account.id) } };
    });
    if (!signedIn) {
      events.signInFailed(context, { door: "setup", reason: "bad_code" });
      throw context.fault("setup_token_invalid");
    }
    const { account, session, ways } = signedIn;
    removeLinkFile(limits.setup_url_file);
    events.setupRedeemed(context, { userId: account.id, username: account.username });
    context.reply.session = { value: session.value, expires_at: session.expiresAt.toISOString() };
    return toSetupState(account, { ...ways, hasRelay: deps.hasRelay });
  };
}
