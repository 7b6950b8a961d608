// How often one API token may be used (docs/reference/api-tokens.md#budget). Each gateway counts by itself: asking somebody
// would cost every request more than it saves.

export type TokenBudget = {
  /** Takes one request; the seconds until the next one is allowed when there is none left, else 0. */
  take: (id: string) => number;
};

const minuteMs = 60_000;
/** Tokens kept; beyond it those that were counted first are forgotten. */
const tokenLimit = 20_000;

/** `perMinute` at once and in every minute after that. */
export function createTokenBudget(perMinute: number, now: () => number = Date.now): TokenBudget {
  const intervalMs = minuteMs / perMinute;
  /** When everything that a token was counted for is forgiven. */
  const forgivenAt = new Map<string, number>();
  return {
    take: (id) => {
      const at = Math.max(forgivenAt.get(id) ?? 0, now()) + intervalMs;
      const waitMs = at - now() - minuteMs;
      if (waitMs > 0) return Math.max(1, Math.ceil(waitMs / 1_000));
      forgivenAt.delete(id);
      forgivenAt.set(id, at);
      const [oldest] = forgivenAt.keys();
      if (forgivenAt.size > tokenLimit && oldest !== undefined) forgivenAt.delete(oldest);
      return 0;
    },
  };
}
