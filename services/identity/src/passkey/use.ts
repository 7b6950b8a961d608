// One use of a passkey: the challenge is spent whatever comes of it, then everything is checked, then the use is noted.

import type { Account } from "../account/store.ts";
import type { ChallengePurpose, IdentityTrx } from "../database.ts";
import { type Assertion, parseAssertion, signedChallenge, verifyAssertion } from "./ceremony.ts";
import { getParty, type PasskeyDeps } from "./deps.ts";
import { type Credential, findCredential, noteUse, type Spent, spendChallenge } from "./store.ts";

export type Use = {
  assertion: unknown;
  purpose: ChallengePurpose;
  /** Whether the ceremony that was begun is the one that ends here. */
  isMine: (spent: Spent) => boolean;
  /** The account that the credential must belong to, as far as the caller knows it. */
  owner: (credential: Credential, assertion: Assertion) => Promise<Account | undefined>;
};

/**
 * The account whose passkey was used; undefined for every failure. Spends the challenge in a statement of its own, so
 * that it is gone also when the rest is undone; call it inside no transaction that may roll back.
 */
export async function usePasskey(deps: PasskeyDeps, use: Use): Promise<Account | undefined> {
  const party = getParty(deps);
  const assertion = parseAssertion(use.assertion);
  const challenge = assertion && signedChallenge(assertion.response);
  if (!assertion || challenge === undefined) return undefined;
  const now = deps.now();
  const spent = await spendChallenge(deps.db, { challenge, purpose: use.purpose, now });
  const credential = await findCredential(deps.db, assertion.id);
  if (!spent || !use.isMine(spent) || !credential) return undefined;
  const account = await use.owner(credential, assertion);
  if (!account || account.id !== credential.user_id) return undefined;
  const verified = await verifyAssertion(party, { assertion, challenge, credential });
  if (!verified) return undefined;
  const isNoted = await deps.db.transaction().execute((trx: IdentityTrx) =>
    noteUse(trx, {
      id: credential.id,
      before: credential.sign_count,
      after: verified.counter,
      isBackedUp: verified.isBackedUp,
      now,
    }),
  );
  return isNoted ? account : undefined;
}
