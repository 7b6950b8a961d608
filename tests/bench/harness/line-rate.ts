// Lines at an even pace: each source in its turn, so that a second has no crowded moment.

export type Pace = { names: readonly string[]; perSecond: number; seconds: number };

/** A line that says when it was made, on the machine's monotonic clock. */
export function stamp(): string {
  return `t ${process.hrtime.bigint()} ${"x".repeat(60)}`;
}

/** `perSecond` lines of each source for so many seconds; answers how many were said. */
export async function pace(
  { names, perSecond, seconds }: Pace,
  say: (name: string, line: string) => void,
): Promise<number> {
  const total = Math.round(names.length * perSecond * seconds);
  const startedAt = performance.now();
  let said = 0;
  while (said < total) {
    const due = Math.min(
      total,
      Math.floor(((performance.now() - startedAt) / 1_000) * names.length * perSecond),
    );
    for (; said < due; said += 1) say(names[said % names.length] ?? "", stamp());
    await new Promise((wake) => setTimeout(wake, 1));
  }
  return said;
}
