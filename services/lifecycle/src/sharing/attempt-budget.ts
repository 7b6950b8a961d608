// How often an account may try invitations (docs/reference/shared-access.md#invitations). Each process counts for itself: the
// secrets cannot be guessed, so this bounds work, not luck.

import { Fault } from "@svc/proto";
import { fullBucket, isFull, type TokenBucket, takeTokens } from "@svc/service/token-bucket";

export type AttemptBudget = {
  /** Counts one; throws `invitation_rate_limited` when there are none left. */
  take: (accountId: string) => void;
};

/** Accounts that are remembered before those who have all their attempts are forgotten. */
const rememberedAccounts = 1_000;

export function createAttemptBudget(perMinute: number, now: () => number = Date.now): AttemptBudget {
  const rate = { burst: perMinute, perSecond: perMinute / 60 };
  const buckets = new Map<string, TokenBucket>();
  return {
    take: (accountId) => {
      const at = now();
      if (buckets.size >= rememberedAccounts)
        for (const [id, bucket] of buckets) if (isFull(bucket, rate, at)) buckets.delete(id);
      const bucket = buckets.get(accountId) ?? fullBucket(rate, at);
      buckets.set(accountId, bucket);
      const waitMs = takeTokens(bucket, rate, at);
      if (waitMs === 0) return;
      throw new Fault("invitation_rate_limited", { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
    },
  };
}
