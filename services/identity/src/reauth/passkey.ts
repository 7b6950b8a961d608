import type { Handler } from "@svc/mesh";
import { Fault, type passkeys } from "@svc/proto";
import { findLiveAccount } from "../account/store.ts";
import type { IdentityTrx } from "../database.ts";
import { factorsOf, needsProof } from "../fresh-proof/policy.ts";
import { waysOf } from "../fresh-proof/require.ts";
import type { PasskeyDeps } from "../passkey/deps.ts";
import { beginStepUp, finishStepUp } from "../passkey/step-up.ts";
import { getAccount } from "../principal.ts";
import { isProven } from "../session/policy.ts";
import { findReauthAt, recordProof } from "../session/store.ts";

/** identity.reauth.status */
export function createReauthStatus(deps: PasskeyDeps): Handler<typeof passkeys.reauthStatus> {
  const { db, limits, now } = deps;
  return async ({ principal }) => {
    const { user_id: userId, session } = getAccount(principal);
    const account = await findLiveAccount(db, userId);
    if (!account) throw new Fault("unauthorized");
    const [ways, reauthAt] = await Promise.all([waysOf(deps, db, account), findReauthAt(db, session)]);
    const at = { now: now(), reauthTtlMs: limits.reauth_ttl };
    return {
      needed: needsProof(ways, reauthAt, at),
      ...(reauthAt && isProven(reauthAt, at) && { until: untilOf(deps, reauthAt) }),
      factors: factorsOf(ways).filter((factor) => factor !== "passkey" || deps.party !== undefined),
    };
  };
}

/** identity.reauth.begin-passkey */
export function createBeginReauth(deps: PasskeyDeps): Handler<typeof passkeys.beginReauth> {
  return async ({ principal }) => {
    const { user_id: userId, session } = getAccount(principal);
    return { publicKey: await beginStepUp(deps, { userId, session, purpose: "reauth" }) };
  };
}

/** identity.reauth.finish-passkey */
export function createFinishReauth(deps: PasskeyDeps): Handler<typeof passkeys.finishReauth> {
  return async (context, { assertion }) => {
    const { user_id: userId, session } = getAccount(context.principal);
    const now = deps.now();
    const effect = async (trx: IdentityTrx) => {
      if (!(await recordProof(trx, { tokenHash: session, now }))) throw context.fault("no_session");
    };
    if (!(await finishStepUp(deps, { userId, session, purpose: "reauth", assertion, effect }))) {
      deps.events.signInFailed(context, { door: "reauth", reason: "bad_assertion" });
      throw context.fault("passkey_login_invalid");
    }
    return { ok: true, until: untilOf(deps, now) };
  };
}

/** RFC 3339 of the end of a proof. */
export function untilOf({ limits }: Pick<PasskeyDeps, "limits">, provedAt: Date): string {
  return new Date(provedAt.getTime() + limits.reauth_ttl).toISOString();
}
