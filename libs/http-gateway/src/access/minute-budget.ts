// How often something may happen within a minute: malformed requests of one address at the sign-in endpoints
// (docs/reference/http.md#rate-limit), requests with one API token (docs/reference/api-tokens.md#budget). Each gateway counts by
// itself: asking somebody would cost more than it saves.

/** `key` is an address or the id of a token. */
export type MinuteBudget = {
  /** Seconds until the next one is allowed; 0 while there are some left. */
  blockedSeconds: (key: string) => number;
  /** Counts one. */
  count: (key: string) => void;
  /** Counts one unless it has to wait; the seconds to wait, else 0. */
  take: (key: string) => number;
};

const minuteMs = 60_000;
/** Keys kept; beyond it those that were counted first are forgotten. */
const keyLimit = 20_000;

/** `perMinute` at once and in every minute after that. */
export function createMinuteBudget(perMinute: number, now: () => number = Date.now): MinuteBudget {
  const intervalMs = minuteMs / perMinute;
  /** When everything that a key was counted for is forgiven. */
  const forgivenAt = new Map<string, number>();
  const blockedSeconds = (key: string) => {
    const untilMs = (forgivenAt.get(key) ?? 0) - now() - minuteMs + intervalMs;
    return untilMs > 0 ? Math.ceil(untilMs / 1_000) : 0;
  };
  const count = (key: string) => {
    const at = Math.max(forgivenAt.get(key) ?? 0, now()) + intervalMs;
    forgivenAt.delete(key);
    forgivenAt.set(key, at);
    if (forgivenAt.size > keyLimit) forget(forgivenAt, now());
  };
  return {
    blockedSeconds,
    count,
    take: (key) => {
      const waitSeconds = blockedSeconds(key);
      if (waitSeconds === 0) count(key);
      return waitSeconds;
    },
  };
}

function forget(forgivenAt: Map<string, number>, now: number): void {
  for (const [key, at] of forgivenAt) if (at <= now) forgivenAt.delete(key);
  for (const key of forgivenAt.keys()) {
    if (forgivenAt.size <= keyLimit) return;
    forgivenAt.delete(key);
  }
}
