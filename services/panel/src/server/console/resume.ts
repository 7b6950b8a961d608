// A stream is resumed by the second: lines of that second which are there already come again and are skipped.

/** Remembers the lines of the newest second. */
type ResumePoint = { atSeconds: number; lines: readonly string[] };

export type Resume = {
  /** True for a line that is new. */
  accept: (atSeconds: number, text: string) => boolean;
  /** Where the next connection goes on; undefined before the first line. */
  point: () => ResumePoint | undefined;
  /** A new connection begins: the lines of the newest second are expected again. */
  reconnect: () => void;
};

export function createResume(): Resume {
  let newest: { atSeconds: number; lines: string[] } | undefined;
  /** Copies of the newest second that the connection has not repeated yet, counted, as replicas may order them differently. */
  let expected = new Map<string, number>();
  const skips = (atSeconds: number, text: string): boolean => {
    if (!newest || atSeconds > newest.atSeconds) return false;
    // A replica may send what lies before the second that was asked for.
    if (atSeconds < newest.atSeconds) return expected.size > 0;
    const copies = expected.get(text) ?? 0;
    if (copies === 0) return false;
    if (copies === 1) expected.delete(text);
    else expected.set(text, copies - 1);
    return true;
  };
  return {
    accept: (atSeconds, text) => {
      if (skips(atSeconds, text)) return false;
      if (newest?.atSeconds === atSeconds) newest.lines.push(text);
      else if (!newest || atSeconds > newest.atSeconds) {
        newest = { atSeconds, lines: [text] };
        expected.clear();
      }
      return true;
    },
    point: () => newest,
    reconnect: () => {
      expected = new Map();
      for (const line of newest?.lines ?? []) expected.set(line, (expected.get(line) ?? 0) + 1);
    },
  };
}
