// A signed-in account proves itself with one of its passkeys, for one purpose and in one session.

import { Fault } from "@svc/proto";
import type { IdentityTrx } from "../database.ts";
import { usePasskey } from "./authenticate.ts";
import { assertionOptions, toAllowed } from "./ceremony.ts";
import { getParty, type PasskeyDeps } from "./deps.ts";
import { insertChallenge, keepNewestChallenges, listCredentials } from "./store.ts";

type StepUp = { userId: string; session: string; purpose: "reauth" | "migrate" };

/** Options for the browser. Throws `no_passkey`, `passkey_unavailable`. */
export async function beginStepUp(deps: PasskeyDeps, about: StepUp): Promise<Record<string, unknown>> {
  const { db, limits } = deps;
  const party = getParty(deps);
  const bound = await listCredentials(db, about.userId);
  if (bound.length === 0) throw new Fault("no_passkey");
  const ttlMs = limits.passkey_challenge_ttl;
  const options = await assertionOptions(party, bound.map(toAllowed), ttlMs);
  await insertChallenge(db, { ...about, challenge: options.challenge, now: deps.now(), ttlMs });
  await keepNewestChallenges(db, { ...about, limit: limits.passkey_challenges_per_account });
  return options;
}

/**
 * Whether the proof was accepted. The challenge is spent in any case; the effect of the proof may be done in
 * `effect`, in the transaction of the use. Throws `passkey_unavailable`.
 */
export async function finishStepUp(
  deps: PasskeyDeps,
  about: StepUp & { assertion: unknown; effect?: (trx: IdentityTrx) => Promise<void> },
): Promise<boolean> {
  const { userId, session, purpose, assertion } = about;
  const isProved = await usePasskey(deps, {
    assertion,
    purpose,
    isMine: (spent) => spent.user_id === userId && spent.session === session,
    userId,
    effect: async (trx) => {
      await about.effect?.(trx);
      return true;
    },
  });
  return isProved ?? false;
}
