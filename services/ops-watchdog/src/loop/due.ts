// When the loop works. Times of day are UTC.

export type DailyFacts = {
  now: number;
  /** `03:30` */
  at: string;
  /** Delay of this installation after that, in milliseconds. */
  jitterMs: number;
  retryMs: number;
  /** Newest success, and newest attempt of this process. */
  lastSuccess: number | undefined;
  lastAttempt: number | undefined;
};

const dayMs = 86_400_000;

/** The newest moment at which it was due; today's before its time is yesterday's. */
function lastDue({ now, at, jitterMs }: DailyFacts): number {
  const [hours = 0, minutes = 0] = at.split(":").map(Number);
  const midnight = Math.floor(now / dayMs) * dayMs;
  const today = midnight + (hours * 60 + minutes) * 60_000 + jitterMs;
  return today <= now ? today : today - dayMs;
}

/** True when nothing succeeded since it was last due, and the last failure is long enough ago. Never done is due at once. */
export function isDailyDue(facts: DailyFacts): boolean {
  const { now, lastSuccess, lastAttempt, retryMs } = facts;
  if (lastSuccess !== undefined && lastSuccess >= lastDue(facts)) return false;
  return lastAttempt === undefined || lastAttempt > now || now - lastAttempt >= retryMs;
}

/** True when the newest one is older than the interval; 0 = never. */
export function isIntervalDue(about: {
  now: number;
  everyMs: number;
  retryMs: number;
  lastSuccess: number | undefined;
  lastAttempt: number | undefined;
}): boolean {
  const { now, everyMs, retryMs, lastSuccess, lastAttempt } = about;
  if (everyMs === 0) return false;
  if (lastSuccess !== undefined && now - lastSuccess < everyMs) return false;
  return lastAttempt === undefined || lastAttempt > now || now - lastAttempt >= retryMs;
}

/** True when the newest pass, of whichever process, began longer ago than the interval and the delay of this installation. */
export function isPassDue(about: {
  now: number;
  everyMs: number;
  jitterMs: number;
  lastPass: number | undefined;
  lastAttempt: number | undefined;
}): boolean {
  const { now, everyMs, jitterMs, lastPass, lastAttempt } = about;
  const isPast = (at: number | undefined, ms: number) => at === undefined || at > now || now - at >= ms;
  return isPast(lastPass, everyMs + jitterMs) && isPast(lastAttempt, everyMs);
}
