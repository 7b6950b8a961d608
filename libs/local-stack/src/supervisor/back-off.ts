/** When a process that died is started again: 0.2 s doubling to 10 s, from the start again after a minute alive. */
export const backOff = { firstMs: 200, longestMs: 10_000, forgetAfterMs: 60_000 } as const;

export type BackOff = {
  readonly firstMs: number;
  readonly longestMs: number;
  readonly forgetAfterMs: number;
};

/** The wait after a death, given the one before (undefined after the first death) and how long the process lived. */
export function nextDelayMs(
  lastDelayMs: number | undefined,
  aliveMs: number,
  rule: BackOff = backOff,
): number {
  if (lastDelayMs === undefined || aliveMs >= rule.forgetAfterMs) return rule.firstMs;
  return Math.min(lastDelayMs * 2, rule.longestMs);
}
