// The proof by a mailed code, for players; operators use a passkey or sign in again (docs/reference/sign-in.md#proofs).

import type { Context, Handler } from "@svc/mesh";
import { Fault, type passkeys } from "@svc/proto";
import { isSameAddress } from "../account/address.ts";
import { isStaffRole } from "../account/policy.ts";
import { type Account, findLiveAccount } from "../account/store.ts";
import { takeCodeAttempt } from "../budget/code.ts";
import type { IdentityTrx } from "../database.ts";
import { mailLockout, recordLockout } from "../email-code/lockout.ts";
import type { SendCode } from "../email-code/send.ts";
import { spendCodes } from "../email-code/store.ts";
import { type CodeOutcome, verifyCode } from "../email-code/verify.ts";
import type { PasskeyDeps } from "../passkey/deps.ts";
import { getAccount } from "../principal.ts";
import { recordProof } from "../session/store.ts";
import { untilOf } from "./passkey.ts";

const purpose = "reauth";
type VerifyContext = Context<typeof passkeys.verifyReauthEmail>;

/** identity.reauth.start-email */
export function createStartReauthEmail(
  deps: PasskeyDeps & { sendCode: SendCode },
): Handler<typeof passkeys.startReauthEmail> {
  return async (context) => {
    const { user_id: userId } = getAccount(context.principal);
    const account = await findLiveAccount(deps.db, userId);
    const email = addressOf(deps, account);
    const { expiresAt } = await deps.sendCode({ userId, email, purpose, requestId: context.requestId });
    return { sent: true, expires_at: expiresAt.toISOString() };
  };
}

/** identity.reauth.verify-email: one transaction; a wrong code commits too, because it counts. */
export function createVerifyReauthEmail(deps: PasskeyDeps): Handler<typeof passkeys.verifyReauthEmail> {
  return async (context, { code }) => {
    await takeCodeAttempt(deps, context, "reauth");
    const { user_id: userId, session } = getAccount(context.principal);
    addressOf(deps, await findLiveAccount(deps.db, userId));
    const tried = await deps.db
      .transaction()
      .execute((trx) => settle(deps, trx, { context, userId, session, code }));
    if (tried.kind !== "right") throw refusal(deps, context, tried);
    return { ok: true, until: untilOf(deps, deps.now()) };
  };
}

type Given = { context: VerifyContext; userId: string; session: string; code: string };

async function settle(
  deps: PasskeyDeps,
  trx: IdentityTrx,
  { context, userId, session, code }: Given,
): Promise<CodeOutcome> {
  const now = deps.now();
  const tried = await verifyCode(deps, trx, { userId, purpose, code });
  if (tried.kind !== "right") {
    await recordLockout(deps, trx, { requester: context, tried, purpose });
    return tried;
  }
  // A code that went to an address which is no longer the account's proves nothing of the account.
  if (!isSameAddress(tried.email, tried.account.email)) return { kind: "no_code" };
  await spendCodes(trx, { userId, purpose, now });
  if (!(await recordProof(trx, { tokenHash: session, now }))) throw new Fault("no_session");
  return tried;
}

/** The address that a player proves themselves with. Throws for everybody who has none. */
function addressOf({ hasRelay }: PasskeyDeps, account: Account | undefined): string {
  if (!account) throw new Fault("unauthorized");
  if (isStaffRole(account.role)) throw new Fault("staff_reauth");
  if (!hasRelay) throw new Fault("mail_unavailable");
  if (!account.email_verified || account.email === null) throw new Fault("no_step_up_factor");
  return account.email;
}

function refusal(
  deps: PasskeyDeps,
  context: VerifyContext,
  tried: Exclude<CodeOutcome, { kind: "right" }>,
): Fault {
  switch (tried.kind) {
    case "gone":
      return new Fault("unauthorized");
    case "locked":
      return context.fault("otp_account_locked", { retryAfterSeconds: tried.retryAfterSeconds });
    case "spent":
      return context.fault("otp_locked");
    case "no_code":
      return context.fault("invalid_code");
    case "wrong":
      deps.events.signInFailed(context, { door: "reauth", reason: "bad_code" });
      mailLockout(deps.mailQueue, tried);
      return context.fault("invalid_code");
  }
}
