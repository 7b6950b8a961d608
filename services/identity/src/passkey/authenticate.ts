// One use of a passkey: the challenge is spent whatever the outcome; everything else happens in one transaction with the
// account locked, so that a passkey or an account that is removed at the same time is not accepted.

import { type Account, lockLiveAccount } from "../account/store.ts";
import type { ChallengePurpose, IdentityTrx } from "../database.ts";
import { verifyAssertion } from "./ceremony.ts";
import { getParty, type PasskeyDeps } from "./deps.ts";
import { type Assertion, namedAccount, parseAssertion, signedChallenge } from "./response.ts";
import { findCredential, recordUse, type Spent, spendChallenge } from "./store.ts";

type Use<T> = {
  assertion: unknown;
  purpose: ChallengePurpose;
  /** Whether the challenge belongs to the ceremony that ends here. */
  isMine: (spent: Spent) => boolean;
  /** The account that signs in; when absent, the one that the passkey names. */
  userId?: string | undefined;
  /** The effect of the use, in its transaction. */
  effect: (trx: IdentityTrx, account: Account) => Promise<T>;
};

/** The result of `effect`, or undefined when the passkey is not accepted for whatever reason. */
export async function usePasskey<T>(deps: PasskeyDeps, use: Use<T>): Promise<T | undefined> {
  getParty(deps);
  const assertion = parseAssertion(use.assertion);
  const challenge = assertion && signedChallenge(assertion.response);
  if (!assertion || challenge === undefined) return undefined;
  const spent = await spendChallenge(deps.db, { challenge, purpose: use.purpose, now: deps.now() });
  if (!spent || !use.isMine(spent)) return undefined;
  return deps.db.transaction().execute(async (trx) => {
    const account = await settle(deps, trx, { assertion, challenge, userId: use.userId });
    return account && use.effect(trx, account);
  });
}

type Given = { assertion: Assertion; challenge: string; userId: string | undefined };

async function settle(
  deps: PasskeyDeps,
  trx: IdentityTrx,
  { assertion, challenge, userId }: Given,
): Promise<Account | undefined> {
  const named = namedAccount(assertion);
  const account = await lockLiveAccount(trx, userId ?? named ?? "");
  if (!account || (named !== undefined && named !== account.id)) return undefined;
  const credential = await findCredential(trx, assertion.id);
  if (credential?.user_id !== account.id) return undefined;
  const verified = await verifyAssertion(getParty(deps), { assertion, challenge, credential });
  if (!verified) return undefined;
  await recordUse(trx, { id: credential.id, ...verified, now: deps.now() });
  return account;
}
