// A signed-in account proves itself with one of its passkeys, for a purpose of its own and in one session.

import { Fault } from "@svc/proto";
import { findLiveAccount } from "../account/store.ts";
import { assertionOptions } from "./ceremony.ts";
import { getParty, type PasskeyDeps } from "./deps.ts";
import { insertChallenge, listCredentials } from "./store.ts";
import { usePasskey } from "./use.ts";

export type StepUp = { userId: string; session: string; purpose: "reauth" | "migrate" };

/** Options for the browser. Throws `no_passkey`, `passkey_unavailable`. */
export async function beginStepUp(deps: PasskeyDeps, about: StepUp): Promise<Record<string, unknown>> {
  const party = getParty(deps);
  const bound = await listCredentials(deps.db, about.userId);
  if (bound.length === 0) throw new Fault("no_passkey");
  const ttlMs = deps.limits.passkey_challenge_ttl;
  const options = await assertionOptions(party, bound, ttlMs);
  await insertChallenge(deps.db, { ...about, challenge: options.challenge, now: deps.now(), ttlMs });
  return options;
}

/** Whether the account proved itself. The challenge is spent in any case. Throws `passkey_unavailable`. */
export async function finishStepUp(
  deps: PasskeyDeps,
  about: StepUp & { assertion: unknown },
): Promise<boolean> {
  const { userId, session, purpose, assertion } = about;
  const account = await usePasskey(deps, {
    assertion,
    purpose,
    isMine: (spent) => spent.user_id === userId && spent.session === session,
    owner: () => findLiveAccount(deps.db, userId),
  });
  return account !== undefined;
}
