// What follows the wrong code that locks an account: one letter, one audit entry, one count.

import type { CodePurpose, IdentityTrx } from "../database.ts";
import type { Asker, Events } from "../events.ts";
import type { Notices } from "../mail/queue.ts";
import type { TryOutcome } from "./verify.ts";

/** In the transaction of the wrong code. */
export async function addLockLetter(
  deps: { notices: Notices },
  trx: IdentityTrx,
  tried: TryOutcome,
): Promise<void> {
  if (tried.kind !== "wrong" || !tried.lockedUntil) return;
  const { email, email_verified: isVerified, language } = tried.account;
  if (!isVerified || email === null) return;
  const facts = { until: tried.lockedUntil.toISOString() };
  await deps.notices.add(trx, { kind: "codes_locked", to: email, language, facts });
}

/** After its commit. */
export function noteLock(
  { events, notices }: { events: Events; notices: Notices },
  asker: Asker,
  { tried, purpose }: { tried: TryOutcome; purpose: CodePurpose },
): void {
  if (tried.kind !== "wrong" || !tried.lockedUntil) return;
  const { id: userId, username } = tried.account;
  notices.wake();
  events.codesLocked(asker, { purpose, until: tried.lockedUntil, userId, username });
}
