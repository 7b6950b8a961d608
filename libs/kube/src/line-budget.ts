// Rate limit of one live log: lines are kept for an hour in a store that all logs of an owner share
// (docs/reference/console.md#stream), so a container that floods its log must not evict the history of others.

type LineBudget = {
  /** Whether a line of this size is within the budget now. */
  take: (bytes: number, nowMs: number) => boolean;
  /** Lines refused since the last call; 0 while lines are still being refused. */
  refused: (nowMs: number) => number;
};

/** A longer line counts as several. */
const lineBytes = 256;

/** A budget of lines: `burst` at once, `perSecond` on average. */
export function createLineBudget({ perSecond, burst }: { perSecond: number; burst: number }): LineBudget {
  let left = burst;
  let filledAt = Number.NaN;
  let refusals = 0;
  const fill = (nowMs: number) => {
    if (filledAt >= 0) left = Math.min(burst, left + ((nowMs - filledAt) / 1_000) * perSecond);
    filledAt = Math.max(nowMs, filledAt || 0);
  };
  return {
    take: (bytes, nowMs) => {
      fill(nowMs);
      const cost = Math.max(1, Math.ceil(bytes / lineBytes));
      if (left < cost) {
        refusals += 1;
        return false;
      }
      left -= cost;
      return true;
    },
    refused: (nowMs) => {
      fill(nowMs);
      if (refusals === 0 || left < Math.min(burst, perSecond) / 4) return 0;
      const count = refusals;
      refusals = 0;
      return count;
    },
  };
}
