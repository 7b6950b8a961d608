const LONGEST_MS = 300_000;
const RESET_AFTER_MS = 600_000;

type BackOff = {
  /** How long to wait before the next start, given how long the last run lasted. */
  nextMs(livedMs: number): number;
};

/**
 * The first restart is immediate, then after base, 2·base, 4·base … up to five minutes; reset after a run of ten
 * minutes.
 */
export function createBackOff(baseMs: number): BackOff {
  let restarts = 0;
  return {
    nextMs: (livedMs) => {
      if (livedMs >= RESET_AFTER_MS) restarts = 0;
      const waitMs = restarts === 0 ? 0 : Math.min(baseMs * 2 ** Math.min(restarts - 1, 20), LONGEST_MS);
      restarts += 1;
      return waitMs;
    },
  };
}
