// Rules of mailed codes (docs/reference/sign-in.md#codes): pure, the clock is handed in.

/** Wrong codes of one account, all purposes together, since the first of them. */
export type FailureWindow = { windowStart: Date; failures: number };
type LockLimits = { failures: number; windowMs: number };

type Lock = { isLocked: false } | { isLocked: true; until: Date; retryAfterSeconds: number };

/** An account is locked from its last allowed wrong code until the window of its first one ends. */
export function decideLock(window: FailureWindow | undefined, now: Date, limits: LockLimits): Lock {
  if (!window || window.failures < limits.failures) return { isLocked: false };
  const until = new Date(window.windowStart.getTime() + limits.windowMs);
  if (until <= now) return { isLocked: false };
  return { isLocked: true, until, retryAfterSeconds: secondsUntil(until, now) };
}

/** The window after one more wrong code; an expired window starts over. */
export function countFailure(
  window: FailureWindow | undefined,
  now: Date,
  limits: LockLimits,
): FailureWindow {
  if (!window || window.windowStart.getTime() + limits.windowMs <= now.getTime())
    return { windowStart: now, failures: 1 };
  return { windowStart: window.windowStart, failures: window.failures + 1 };
}

type PresentedCode = { isSame: boolean; attempts: number };
type AttemptVerdict = { kind: "no_code" | "spent" | "wrong" } | { kind: "right"; index: number };

/** Compares a typed code with the live ones. A code without attempts left is rejected even if it is right. */
export function decideAttempt(codes: readonly PresentedCode[], maxTries: number): AttemptVerdict {
  if (codes.length === 0) return { kind: "no_code" };
  if (codes.every(({ attempts }) => attempts >= maxTries)) return { kind: "spent" };
  const index = codes.findIndex(({ isSame, attempts }) => isSame && attempts < maxTries);
  return index === -1 ? { kind: "wrong" } : { kind: "right", index };
}

/** Whole seconds until a moment, at least 1. */
export function secondsUntil(moment: Date, now: Date): number {
  return Math.max(1, Math.ceil((moment.getTime() - now.getTime()) / 1_000));
}

/** A code as a person types it: spaces and dashes between the digits do not count. */
export function typedCode(text: string): string {
  return text.replace(/[\s-]/g, "");
}
