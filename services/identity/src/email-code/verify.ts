// One attempt at a mailed code, counted whatever the outcome of the request.

import type { Account } from "../account/store.ts";
import { lockLiveAccount } from "../account/store.ts";
import type { CodePurpose, IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { isSameHash, sha256 } from "../secret.ts";
import { countFailure, decideAttempt, decideLock, typedCode } from "./policy.ts";
import { countAttempts, findFailures, findLiveCodes, saveFailures } from "./store.ts";

type CodeAttempt = {
  userId: string;
  purpose: CodePurpose;
  code: string;
  /** How many of the newest codes are accepted; default 1. */
  liveCodes?: number;
  /** True where the lockout of codes does not apply, which is the operator login (docs/reference/sign-in.md#codes). */
  isBeyondLock?: boolean;
};

export type CodeOutcome =
  | { kind: "right"; account: Account; email: string; codeId: string }
  | { kind: "gone" | "no_code" | "spent" }
  /** `isLast`: the code has no attempts left. `lockedUntil`: this attempt locked the account. */
  | { kind: "wrong"; isLast: boolean; lockedUntil?: Date; account: Account }
  | { kind: "locked"; retryAfterSeconds: number };

/**
 * Locks the account for the transaction, so that parallel attempts are serialized: each wrong one is counted
 * and only one can be right. The transaction must be committed for the count to hold; a right code is not spent here.
 */
export async function verifyCode(
  deps: Pick<Deps, "limits" | "now">,
  trx: IdentityTrx,
  given: CodeAttempt,
): Promise<CodeOutcome> {
  const { userId, purpose, liveCodes: limit = 1 } = given;
  const { otp_lock_failures: failures, otp_lock_window: windowMs, otp_tries: maxTries } = deps.limits;
  const now = deps.now();
  const account = await lockLiveAccount(trx, userId);
  // All three are read in every case, so that the time of a rejection does not reveal its reason.
  const window = await findFailures(trx, userId);
  const codes = await findLiveCodes(trx, { userId, purpose, now, limit });
  if (!account) return { kind: "gone" };
  const lock = decideLock(window, now, { failures, windowMs });
  if (lock.isLocked && !given.isBeyondLock)
    return { kind: "locked", retryAfterSeconds: lock.retryAfterSeconds };
  const typed = sha256(typedCode(given.code));
  const presented = codes.map((code) => ({ ...code, isSame: isSameHash(typed, code.code_hash) }));
  const verdict = decideAttempt(presented, maxTries);
  const right = verdict.kind === "right" ? codes[verdict.index] : undefined;
  if (right) return { kind: "right", account, email: right.email, codeId: right.id };
  if (verdict.kind !== "wrong") return { kind: verdict.kind === "spent" ? "spent" : "no_code" };
  const counted = countFailure(window, now, { failures, windowMs });
  await countAttempts(
    trx,
    codes.map(({ id }) => id),
  );
  await saveFailures(trx, userId, counted);
  const after = decideLock(counted, now, { failures, windowMs });
  return {
    kind: "wrong",
    account,
    isLast: codes.every(({ attempts }) => attempts + 1 >= maxTries),
    ...(after.isLocked && !lock.isLocked && { lockedUntil: after.until }),
  };
}
