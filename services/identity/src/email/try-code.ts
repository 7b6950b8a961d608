// One try of a mailed code, counted whatever becomes of the request.

import type { Account } from "../account/store.ts";
import { lockLiveAccount } from "../account/store.ts";
import type { CodePurpose, IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { isSameHash, sha256 } from "../secret.ts";
import { countFailure, decideLock, judgeTry, typedCode } from "./policy.ts";
import { countTry, findFailures, findNewestCode, saveFailures } from "./store.ts";

export type CodeTry = { userId: string; purpose: CodePurpose; code: string };

export type TryOutcome =
  | { kind: "right"; account: Account; email: string; codeId: string }
  | { kind: "gone" | "no_code" | "spent" }
  /** `isLast`: the code has no try left. `lockedUntil`: this one locked the account. */
  | { kind: "wrong"; isLast: boolean; lockedUntil?: Date; account: Account }
  | { kind: "locked"; retryAfterSeconds: number };

/**
 * Locks the account for the transaction, so that parallel tries come one after the other: each wrong one is counted
 * and only one can be right. The transaction must be committed for the count to hold; a right code is not spent here.
 */
export async function tryCode(
  deps: Pick<Deps, "limits" | "now">,
  trx: IdentityTrx,
  { userId, purpose, code }: CodeTry,
): Promise<TryOutcome> {
  const { otp_lock_failures: failures, otp_lock_window: windowMs, otp_tries: maxTries } = deps.limits;
  const now = deps.now();
  const account = await lockLiveAccount(trx, userId);
  if (!account) return { kind: "gone" };
  const window = await findFailures(trx, userId);
  const lock = decideLock(window, now, { failures, windowMs });
  if (lock.isLocked) return { kind: "locked", retryAfterSeconds: lock.retryAfterSeconds };
  const newest = await findNewestCode(trx, { userId, purpose, now });
  const known = newest && { codeHash: newest.code_hash, attempts: newest.attempts };
  const isSame = isSameHash(sha256(typedCode(code)), newest?.code_hash ?? "");
  const verdict = judgeTry(known, isSame, maxTries);
  if (!newest || verdict === "no_code") return { kind: "no_code" };
  if (verdict === "spent") return { kind: "spent" };
  if (verdict === "right") return { kind: "right", account, email: newest.email, codeId: newest.id };
  const counted = countFailure(window, now, { failures, windowMs });
  await countTry(trx, newest.id);
  await saveFailures(trx, userId, counted);
  const after = decideLock(counted, now, { failures, windowMs });
  return {
    kind: "wrong",
    account,
    isLast: newest.attempts + 1 >= maxTries,
    ...(after.isLocked && { lockedUntil: after.until }),
  };
}
