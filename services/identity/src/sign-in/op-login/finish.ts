import type { Context, Handler } from "@svc/mesh";
import type { signIn } from "@svc/proto";
import { isSameAddress } from "../../account/address.ts";
import { isStaffRole } from "../../account/policy.ts";
import type { Account } from "../../account/store.ts";
import type { IdentityTrx } from "../../database.ts";
import { mailLockout, recordLockout } from "../../email-code/lockout.ts";
import { spendCodes } from "../../email-code/store.ts";
import { type CodeOutcome, verifyCode } from "../../email-code/verify.ts";
import { createSession } from "../../session/store.ts";
import type { SignInDeps } from "../deps.ts";
import { consume, countAttempt, findApproved, lockApproved } from "./store.ts";

const purpose = "op_login";
type FinishContext = Context<typeof signIn.finishOpLogin>;
type Session = Awaited<ReturnType<typeof createSession>>;
type Outcome =
  | { kind: "unapproved" }
  | { kind: "refused"; userId: string; tried: CodeOutcome }
  | { kind: "not_staff"; account: Account }
  | { kind: "signed_in"; account: Account; session: Session };

/** identity.op-login.finish: without the approval no code is checked, so an attacker can neither guess codes nor lock the account. */
export function createFinishOpLogin(deps: SignInDeps): Handler<typeof signIn.finishOpLogin> {
  const { db, events } = deps;
  return async (context, { request_id: id, code }) => {
    const outcome = await db.transaction().execute((trx) => settle(deps, trx, { context, id, code }));
    if (outcome.kind === "unapproved" || outcome.kind === "refused") {
      const subject = outcome.kind === "refused" && { userId: outcome.userId };
      events.signInFailed(context, { door: "op_login", reason: "bad_code", ...subject });
      if (outcome.kind === "refused") mailLockout(deps.mailQueue, outcome.tried);
      throw context.fault("op_login_invalid");
    }
    const { id: userId, username, role } = outcome.account;
    if (outcome.kind === "not_staff") {
      events.signInFailed(context, { door: "op_login", reason: "not_staff", userId, username });
      throw context.fault("staff_account", { message: "This account is no longer an operator." });
    }
    const { value, expiresAt } = outcome.session;
    context.reply.session = { value, expires_at: expiresAt.toISOString() };
    return { user_id: userId, role };
  };
}

/** identity.op-login.read-status */
export function createReadStatus({ db, now }: SignInDeps): Handler<typeof signIn.readOpLoginStatus> {
  return async (_context, { id }) => ({
    approved: (await findApproved(db, { id, now: now() })) !== undefined,
  });
}

type Given = { context: FinishContext; id: string; code: string };

async function settle(deps: SignInDeps, trx: IdentityTrx, { context, id, code }: Given): Promise<Outcome> {
  const { limits } = deps;
  const now = deps.now();
  const request = await lockApproved(trx, { id, now });
  if (!request || request.attempts >= limits.otp_tries) return { kind: "unapproved" };
  const userId = request.user_id;
  // The lockout after ten wrong codes does not apply here: staff have approved this very request (docs/reference/sign-in.md#codes).
  const given = { userId, purpose, code, liveCodes: limits.otp_live_codes, isBeyondLock: true } as const;
  const tried = await verifyCode(deps, trx, given);
  if (tried.kind !== "right" || !hasKeptAddress(tried.account, request.email)) {
    await countAttempt(trx, id);
    await recordLockout(deps, trx, { requester: context, tried, purpose });
    return { kind: "refused", userId, tried };
  }
  const { account } = tried;
  await spendCodes(trx, { userId, purpose, now });
  await consume(trx, { id, now });
  if (!isStaffRole(account.role)) return { kind: "not_staff", account };
  const minted = { userId, door: "op_login", client: context.client, now, isProof: true } as const;
  const session = await createSession(trx, { ...minted, ttlMs: limits.session_ttl });
  await deps.events.signedIn(trx, context, { door: "op_login", userId, username: account.username });
  return { kind: "signed_in", account, session };
}

/** A request is for the address that it was opened with. */
function hasKeptAddress({ email, email_verified: isVerified }: Account, opened: string): boolean {
  return isVerified && isSameAddress(email, opened);
}
