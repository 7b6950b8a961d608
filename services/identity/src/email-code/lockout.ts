// What follows the wrong code that locks an account: a mail, an audit entry and a count.

import type { Requester } from "../audit/record.ts";
import type { CodePurpose, IdentityTrx } from "../database.ts";
import type { Events } from "../events.ts";
import type { MailQueue } from "../mail/queue.ts";
import type { CodeOutcome } from "./verify.ts";

type Lockout = { requester: Requester; tried: CodeOutcome; purpose: CodePurpose };

/** In the transaction of the wrong code; nothing unless it locked the account. */
export async function recordLockout(
  { events, mailQueue }: { events: Pick<Events, "codesLocked">; mailQueue: MailQueue },
  trx: IdentityTrx,
  { requester, tried, purpose }: Lockout,
): Promise<void> {
  if (tried.kind !== "wrong" || !tried.lockedUntil) return;
  const { id: userId, username, email, email_verified: isVerified, language } = tried.account;
  await events.codesLocked(trx, requester, { purpose, until: tried.lockedUntil, userId, username });
  if (!isVerified || email === null) return;
  const facts = { until: tried.lockedUntil.toISOString() };
  await mailQueue.add(trx, { kind: "codes_locked", to: email, language, facts });
}

/** After the commit: sends the mail about a lockout. */
export function mailLockout(mailQueue: MailQueue, tried: CodeOutcome): void {
  if (tried.kind === "wrong" && tried.lockedUntil) mailQueue.wake();
}
