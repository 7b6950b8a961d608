// The position of a line in its log: the pod, the time that the node gave it, and its index among the lines of that time.
// Stored with each line, so that whoever takes over continues behind it. Pure.

/** A line of one pod's log, or of one container's where a pod has several. */
export type LogCursor = { pod: string; atNs: bigint; ordinal: number };

/** Text of a cursor; `parseCursor` reads it. */
export function encodeCursor({ pod, atNs, ordinal }: LogCursor): string {
  return `${pod} ${atNs} ${ordinal}`;
}

/** Undefined for a malformed cursor, as if there were none. */
export function parseCursor(text: string | undefined): LogCursor | undefined {
  const [, pod, atNs, ordinal] = /^(\S+) (\d{1,20}) (\d{1,9})$/.exec(text ?? "") ?? [];
  return pod && atNs && ordinal ? { pod, atNs: BigInt(atNs), ordinal: Number(ordinal) } : undefined;
}

/**
 * Returns the cursor of each line, or undefined for a line up to `after`. The log must be read from the time of `after`
 * on, or from an earlier one; all lines of another pod are new.
 */
export function createCursorTracker(
  pod: string,
  after: LogCursor | undefined,
): (atNs: bigint) => LogCursor | undefined {
  let last: LogCursor | undefined;
  return (atNs) => {
    const ordinal = last?.atNs === atNs ? last.ordinal + 1 : 0;
    last = { pod, atNs, ordinal };
    const isKnown =
      after !== undefined &&
      after.pod === pod &&
      (atNs < after.atNs || (atNs === after.atNs && ordinal <= after.ordinal));
    return isKnown ? undefined : last;
  };
}
