import type { Context, Handler } from "@svc/mesh";
import { type AccountPrincipal, type accounts, Fault } from "@svc/proto";
import { violates } from "@svc/store";
import { isSameAddress, maskAddress } from "../account/address.ts";
import { recordAudit } from "../audit/record.ts";
import { takeCodeAttempt } from "../budget/code.ts";
import type { CodePurpose, IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { recordLockout } from "../email-code/lockout.ts";
import { isTaken, saveVerifiedEmail, spendAllCodes, spendCodes } from "../email-code/store.ts";
import { type CodeOutcome, verifyCode } from "../email-code/verify.ts";
import type { MailQueue } from "../mail/queue.ts";
import { getAccount } from "../principal.ts";
import { recordProof, revokeSessions } from "../session/store.ts";
import { clearLinkFile, completeSetup, type SetupEnd } from "../setup/complete.ts";

const purpose: CodePurpose = "onboard_email";
type VerifyDeps = Deps & { mailQueue: MailQueue };
type VerifyContext = Context<typeof accounts.verifyEmail>;
type RightCode = Extract<CodeOutcome, { kind: "right" }>;
type Refusal = Exclude<CodeOutcome, RightCode> | { kind: "taken" };
type Verified = { kind: "verified"; email: string; replaced: boolean; revoked: number; setup: SetupEnd };
type Outcome = Refusal | Verified;

/** identity.email.verify: one transaction; a wrong code commits too, because it counts. */
export function createVerifyEmail(deps: VerifyDeps): Handler<typeof accounts.verifyEmail> {
  const { db, mailQueue } = deps;
  return async (context, { code }) => {
    await takeCodeAttempt(deps, context, "account_email");
    const caller = getAccount(context.principal);
    const outcome = await db
      .transaction()
      .execute((trx) => settle(deps, trx, { context, caller, code }))
      .catch((error: unknown): Outcome => {
        // Another account verified the address between the check and the write: nothing was changed.
        if (violates(error, "users_verified_email")) return { kind: "taken" };
        throw error;
      });
    if (hasMail(outcome)) mailQueue.wake();
    if (outcome.kind !== "verified") throw refusal(deps, context, outcome);
    const { email, setup } = outcome;
    clearLinkFile(deps, caller.role, setup);
    return { verified: true, email };
  };
}

type Given = { context: VerifyContext; caller: AccountPrincipal; code: string };

async function settle(
  deps: VerifyDeps,
  trx: IdentityTrx,
  { context, caller, code }: Given,
): Promise<Outcome> {
  const tried = await verifyCode(deps, trx, { userId: caller.user_id, purpose, code });
  if (tried.kind !== "right") {
    await recordLockout(deps, trx, { requester: context, tried, purpose });
    return tried;
  }
  const outcome = await accept(deps, trx, { caller, tried });
  if (outcome.kind !== "verified") return outcome;
  const { replaced, revoked: count } = outcome;
  await recordAudit(trx, context, { action: "account.email.verified", payload: { replaced } });
  await deps.events.sessionsRevoked(trx, context, { count, action: "account.session.revoke_others" });
  return outcome;
}

type Accepting = { caller: AccountPrincipal; tried: RightCode };

async function accept(deps: VerifyDeps, trx: IdentityTrx, { caller, tried }: Accepting): Promise<Outcome> {
  const { account, email } = tried;
  const now = deps.now();
  if (await isTaken(trx, { email, userId: account.id })) return { kind: "taken" };
  await saveVerifiedEmail(trx, { userId: account.id, email });
  const replaced = account.email_verified && !isSameAddress(account.email, email);
  if (replaced) await spendAllCodes(trx, { userId: account.id, now });
  else await spendCodes(trx, { userId: account.id, purpose, now });
  await recordProof(trx, { tokenHash: caller.session, now });
  const setup = await completeSetup(trx, { userId: account.id, session: caller.session, now });
  if (!replaced || account.email === null)
    return { kind: "verified", email, replaced: false, revoked: setup.revoked, setup };
  const others = await revokeSessions(trx, { userId: account.id, now, except: caller.session });
  const revoked = setup.revoked + others;
  const facts = { newAddress: maskAddress(email) };
  await deps.mailQueue.add(trx, {
    kind: "email_changed",
    to: account.email,
    language: account.language,
    facts,
  });
  return { kind: "verified", email, replaced, revoked, setup };
}

function hasMail(outcome: Outcome): boolean {
  if (outcome.kind === "verified") return outcome.replaced;
  return outcome.kind === "wrong" && outcome.lockedUntil !== undefined;
}

function refusal({ events }: VerifyDeps, context: VerifyContext, outcome: Refusal): Fault {
  switch (outcome.kind) {
    case "gone":
      return new Fault("unauthorized");
    case "taken":
      return context.fault("email_taken");
    case "locked":
      return context.fault("otp_account_locked", { retryAfterSeconds: outcome.retryAfterSeconds });
    case "spent":
      return context.fault("otp_locked");
    case "no_code":
      return context.fault("invalid_code");
    case "wrong":
      events.signInFailed(context, { door: "account_email", reason: "bad_code" });
      return outcome.isLast
        ? context.fault("invalid_code", {
            message: "The code is wrong and has no attempts left; ask for a new one.",
          })
        : context.fault("invalid_code");
  }
}
