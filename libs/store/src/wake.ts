export type Wake = {
  /** Ends the wait, or the next one if nobody waits now. */
  ring: () => void;
  /** Resolves when it rings, and after `timeoutMs` at the latest. One caller at a time. */
  next: (timeoutMs: number) => Promise<void>;
};

/** Remembers a ring that nobody waited for, so that a row written during a round is never left for the timeout. */
export function createWake(): Wake {
  let hasRung = false;
  let waiting: (() => void) | undefined;
  const ring = () => {
    hasRung = true;
    waiting?.();
  };
  const next = (timeoutMs: number) =>
    new Promise<void>((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        waiting = undefined;
        hasRung = false;
        resolve();
      };
      const timer = setTimeout(finish, timeoutMs);
      waiting = finish;
      if (hasRung) finish();
    });
  return { ring, next };
}
