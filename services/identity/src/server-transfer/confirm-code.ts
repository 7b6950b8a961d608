// The proof by a mailed code (docs/reference/server-transfer.md#states): for a source without a passkey.

import type { Context, Handler } from "@svc/mesh";
import { type AccountPrincipal, type accountMigrations, Fault } from "@svc/proto";
import { findLiveAccount, hasPasskey, lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import { takeCodeAttempt } from "../budget/code.ts";
import type { CodePurpose, IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { mailLockout, recordLockout } from "../email-code/lockout.ts";
import type { SendCode } from "../email-code/send.ts";
import { spendCodes } from "../email-code/store.ts";
import { type CodeOutcome, verifyCode } from "../email-code/verify.ts";
import type { MailQueue } from "../mail/queue.ts";
import { getAccount } from "../principal.ts";
import { atOf } from "./issue-code.ts";
import { stateFor } from "./policy.ts";
import { confirmTransfer, findUnfinished } from "./store.ts";

type VerifyDeps = Deps & { mailQueue: MailQueue };
const purpose: CodePurpose = "migrate_confirm";
type VerifyContext = Context<typeof accountMigrations.verifyCode>;
type Outcome = CodeOutcome | { kind: "no_migration" | "already_confirmed" };

/** identity.account-transfer.start-code */
export function createStartCode(
  deps: Deps & { sendCode: SendCode },
): Handler<typeof accountMigrations.startCode> {
  return async (context) => {
    const caller = getAccount(context.principal);
    const account = await findLiveAccount(deps.db, caller.user_id);
    if (!account) throw new Fault("unauthorized");
    const transfer = await findUnfinished(deps.db, account.id);
    if (!transfer) throw context.fault("no_migration");
    if (await hasPasskey(deps.db, account.id)) throw context.fault("passkey_required");
    if (stateFor(transfer, atOf(deps, caller)) !== "initiated") throw context.fault("already_confirmed");
    if (!deps.hasRelay) throw context.fault("mail_unavailable");
    if (!account.email_verified || account.email === null) throw context.fault("no_step_up_factor");
    const { id: userId, email } = account;
    const { expiresAt } = await deps.sendCode({ userId, email, purpose, requestId: context.requestId });
    return { sent: true, expires_at: expiresAt.toISOString() };
  };
}

/** identity.account-transfer.verify-code: one transaction; a wrong code commits too, because it counts. */
export function createVerifyCode(deps: VerifyDeps): Handler<typeof accountMigrations.verifyCode> {
  return async (context, { code }) => {
    await takeCodeAttempt(deps, context, "account_migration");
    const caller = getAccount(context.principal);
    const outcome = await deps.db
      .transaction()
      .execute((trx) => settle(deps, trx, { context, caller, code }));
    if (outcome.kind !== "right") {
      if (outcome.kind === "wrong") mailLockout(deps.mailQueue, outcome);
      throw refusal(deps, context, outcome);
    }
    return { confirmed: true };
  };
}

async function settle(
  deps: VerifyDeps,
  trx: IdentityTrx,
  { context, caller, code }: { context: VerifyContext; caller: AccountPrincipal; code: string },
): Promise<Outcome> {
  const account = await lockLiveAccount(trx, caller.user_id);
  if (!account) return { kind: "gone" };
  const transfer = await findUnfinished(trx, account.id);
  if (!transfer) return { kind: "no_migration" };
  const at = atOf(deps, caller);
  if (stateFor(transfer, at) !== "initiated") return { kind: "already_confirmed" };
  const tried = await verifyCode(deps, trx, { userId: account.id, purpose, code });
  if (tried.kind !== "right") {
    await recordLockout(deps, trx, { requester: context, tried, purpose });
    return tried;
  }
  await spendCodes(trx, { userId: account.id, purpose, now: at.now });
  const proof = { id: transfer.id, factor: "email_otp", session: caller.session, now: at.now } as const;
  await confirmTransfer(trx, proof);
  await recordAudit(trx, context, { action: "account.migrate.confirm", payload: { factor: "email_otp" } });
  return tried;
}

function refusal(
  deps: Pick<Deps, "events">,
  context: VerifyContext,
  outcome: Exclude<Outcome, { kind: "right" }>,
): Fault {
  switch (outcome.kind) {
    case "gone":
      return new Fault("unauthorized");
    case "locked":
      return context.fault("otp_account_locked", { retryAfterSeconds: outcome.retryAfterSeconds });
    case "spent":
      return context.fault("otp_locked");
    case "no_code":
      return context.fault("invalid_code");
    case "wrong":
      deps.events.signInFailed(context, { door: "account_migration", reason: "bad_code" });
      return outcome.isLast
        ? context.fault("invalid_code", {
            message: "The code is wrong and has no attempts left; ask for a new one.",
          })
        : context.fault("invalid_code");
    default:
      return context.fault(outcome.kind);
  }
}
