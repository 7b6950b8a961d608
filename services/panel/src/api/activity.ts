// Whether anybody is there. A forgotten tab stops asking, so that it does not keep a session alive.

const awayAfterMs = 15 * 60_000;
const actedWithinMs = 60_000;
const signs = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"] as const;

let seenAt = Date.now();
const returns = new Set<() => void>();

/** True after 15 minutes without a hand on mouse, screen or keyboard. */
export function isAbsent(now = Date.now()): boolean {
  return now - seenAt >= awayAfterMs;
}

/**
 * Marks what nobody's hand asked for, so that it is no use of the session (docs/reference/sign-in.md#session): what is
 * sent more than a minute after the last sign of life.
 */
export function backgroundHeaders(now = Date.now()): Record<string, string> {
  return now - seenAt < actedWithinMs ? {} : background;
}

/** For streams: whoever opened one, the rechecks of its session go on without a hand. */
export const background: Readonly<Record<string, string>> = { "x-svc-background": "true" };

/** Calls back when somebody touches the page after an absence. */
export function onReturn(listener: () => void): () => void {
  returns.add(listener);
  return () => returns.delete(listener);
}

/** Starts to watch for signs of life. */
export function watchActivity(target: EventTarget = window): void {
  const note = () => {
    const wasAbsent = isAbsent();
    seenAt = Date.now();
    if (wasAbsent) for (const listener of returns) listener();
  };
  for (const sign of signs) target.addEventListener(sign, note, { passive: true, capture: true });
}
