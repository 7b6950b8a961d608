/** How much a player may still do at a moment. */
export type Pace = { left: number; at: number };

const burst = 60;
const perSecond = 20;

/** The pace of who has done nothing yet. */
export const freshPace = (now: number): Pace => ({ left: burst, at: now });

/** Whether one more thing may be done; it is counted. */
export function spend(pace: Pace, now: number): boolean {
  pace.left = Math.min(burst, pace.left + ((now - pace.at) / 1_000) * perSecond);
  pace.at = now;
  if (pace.left < 1) return false;
  pace.left -= 1;
  return true;
}
