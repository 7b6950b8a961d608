import type { Handler } from "@svc/mesh";
import { type accounts, Fault } from "@svc/proto";
import { isPlainAddress } from "@svc/smtp";
import { findLiveAccount } from "../account/store.ts";
import type { Deps } from "../deps.ts";
import type { SendCode } from "../email-code/send.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import { getAccount } from "../principal.ts";

/** identity.email.start */
export function createStartEmail(deps: Deps & { sendCode: SendCode }): Handler<typeof accounts.startEmail> {
  const { db } = deps;
  return async (context, { email }) => {
    const { user_id: userId, session } = getAccount(context.principal);
    if (!deps.hasRelay) throw context.fault("mail_unavailable");
    if (!isPlainAddress(email))
      throw context.fault("bad_request", { message: "email: must be an e-mail address" });
    const account = await findLiveAccount(db, userId);
    if (!account) throw new Fault("unauthorized");
    await requireReauth(deps, db, { account, session });
    const { expiresAt } = await deps.sendCode({
      userId,
      email,
      purpose: "onboard_email",
      requestId: context.requestId,
    });
    return { sent: true, expires_at: expiresAt.toISOString() };
  };
}
