// How many malformed requests one address may send to the sign-in endpoints (docs/reference/http.md#rate-limit). Each gateway counts
// by itself: refusing them must not cost identity anything.

export type MalformedBudget = {
  /** Seconds until the address is read again; 0 while it has attempts left. */
  blockedSeconds: (address: string) => number;
  /** Counts one malformed request. */
  count: (address: string) => void;
};

const minuteMs = 60_000;
/** Addresses kept; beyond it those that were counted first are forgotten. */
const addressLimit = 20_000;

/** `perMinute` at once and in every minute after that. */
export function createMalformedBudget(perMinute: number, now: () => number = Date.now): MalformedBudget {
  const intervalMs = minuteMs / perMinute;
  /** When everything that an address was counted for is forgiven. */
  const forgivenAt = new Map<string, number>();
  return {
    blockedSeconds: (address) => {
      const untilMs = (forgivenAt.get(address) ?? 0) - now() - minuteMs + intervalMs;
      return untilMs > 0 ? Math.ceil(untilMs / 1_000) : 0;
    },
    count: (address) => {
      const at = Math.max(forgivenAt.get(address) ?? 0, now()) + intervalMs;
      forgivenAt.delete(address);
      forgivenAt.set(address, at);
      if (forgivenAt.size > addressLimit) forget(forgivenAt, now());
    },
  };
}

function forget(forgivenAt: Map<string, number>, now: number): void {
  for (const [address, at] of forgivenAt) if (at <= now) forgivenAt.delete(address);
  for (const address of forgivenAt.keys()) {
    if (forgivenAt.size <= addressLimit) return;
    forgivenAt.delete(address);
  }
}
