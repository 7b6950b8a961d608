import type { Handler } from "@svc/mesh";
import { type AccountPrincipal, type accounts, Fault } from "@svc/proto";
import { isPlainAddress } from "@svc/smtp";
import { isSameAddress } from "../account/address.ts";
import { lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { saveUnverifiedEmail, spendAllCodes } from "../email-code/store.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import type { MailQueue } from "../mail/queue.ts";
import { getAccount } from "../principal.ts";

type EnterDeps = Deps & { mailQueue: MailQueue };
type Entered = { email: string; replaced: boolean };

/** identity.email.enter */
export function createEnterEmail(deps: EnterDeps): Handler<typeof accounts.enterEmail> {
  const { db, mailQueue } = deps;
  return async (context, { email }) => {
    if (!isPlainAddress(email))
      throw context.fault("bad_request", { message: "email: must be an e-mail address" });
    const caller = getAccount(context.principal);
    const entered = await db.transaction().execute(async (trx) => {
      const after = await enter(deps, trx, { caller, email });
      const payload = { replaced: after.replaced };
      await recordAudit(trx, context, { action: "account.email.entered", payload });
      return after;
    });
    if (entered.replaced) mailQueue.wake();
    return { email: entered.email };
  };
}

type Given = { caller: AccountPrincipal; email: string };

/** An address that is already verified stays verified. Codes mailed to the previous address become invalid. */
async function enter(deps: EnterDeps, trx: IdentityTrx, { caller, email }: Given): Promise<Entered> {
  const { user_id: userId, session } = caller;
  const now = deps.now();
  const account = await lockLiveAccount(trx, userId);
  if (!account) throw new Fault("unauthorized");
  await requireReauth(deps, trx, { account, session });
  const former = account.email_verified ? account.email : null;
  if (former !== null && isSameAddress(former, email)) return { email: former, replaced: false };
  await saveUnverifiedEmail(trx, { userId, email });
  await spendAllCodes(trx, { userId, now });
  if (former === null) return { email, replaced: false };
  const mail = { kind: "email_removed", facts: {}, to: former, language: account.language } as const;
  await deps.mailQueue.add(trx, mail);
  return { email, replaced: true };
}
