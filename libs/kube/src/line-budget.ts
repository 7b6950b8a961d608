// Rate limit of one live log: lines are kept for an hour in a store that all logs of an owner share
// (docs/reference/console.md#stream), so a container that floods its log must not evict the history of others.

import { fullBucket, refill, type TokenRate, takeTokens } from "@svc/service/token-bucket";

type LineBudget = {
  /** Whether a line of this size is within the budget now. */
  take: (bytes: number, nowMs: number) => boolean;
  /** Lines refused since the last call; 0 while lines are still being refused. */
  refused: (nowMs: number) => number;
};

/** A longer line counts as several. */
const lineBytes = 256;

/** A budget of lines: `burst` at once, `perSecond` on average. */
export function createLineBudget(rate: TokenRate): LineBudget {
  const bucket = fullBucket(rate, 0);
  let refusals = 0;
  return {
    take: (bytes, nowMs) => {
      const count = Math.max(1, Math.ceil(bytes / lineBytes));
      const isTaken = takeTokens(bucket, { ...rate, count }, nowMs) === 0;
      if (!isTaken) refusals += 1;
      return isTaken;
    },
    refused: (nowMs) => {
      refill(bucket, rate, nowMs);
      if (refusals === 0 || bucket.left < Math.min(rate.burst, rate.perSecond) / 4) return 0;
      const count = refusals;
      refusals = 0;
      return count;
    },
  };
}
