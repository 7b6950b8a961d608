import type { OpenRelay } from "@svc/smtp";
import type { Account } from "../account/store.ts";
import type { Deps } from "../deps.ts";
import { dropCode, keepNewest, saveCode } from "../email-code/store.ts";
import type { Mailer } from "../mail/mailer.ts";
import { codeMessage } from "../mail/templates.ts";
import { mintCode } from "../secret.ts";
import type { SignInPurpose } from "./store.ts";

type CodeToMail = {
  account: Account;
  purpose: SignInPurpose;
  expiresAt: Date;
  relay: OpenRelay;
  requestId: string;
};

/**
 * Mails a code to the verified address of the account, never to the one that was typed. A rejected recipient
 * is logged and counted; the endpoint has long answered.
 */
export async function mailCode(deps: Deps & { mailer: Mailer }, toMail: CodeToMail): Promise<void> {
  const { db, limits, mailer } = deps;
  const { account, purpose, expiresAt, relay, requestId } = toMail;
  if (account.email === null) return;
  const now = deps.now();
  const code = mintCode();
  const id = await saveCode(db, {
    ...{ userId: account.id, email: account.email },
    ...{ code, purpose, now, expiresAt },
  });
  const validMinutes = Math.ceil(limits.otp_ttl / 60_000);
  const message = codeMessage({ code, validMinutes, purpose }, account.language);
  try {
    await mailer.deliver("code", { to: account.email, message, requestId }, relay);
  } catch (error) {
    await dropCode(db, id);
    throw error;
  }
  await keepNewest(db, { userId: account.id, purpose, now, limit: limits.otp_live_codes });
}
